"""The local cloud: an embedded Postgres, a post office in place of SES and SNS, and template.yaml brought to life."""
