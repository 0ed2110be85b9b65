"""SQS for the local stack: standard queues, fair ones too, whose calls cost the same however many messages wait."""
