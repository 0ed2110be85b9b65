"""`tocsin`: the command line. It speaks HTTP only and imports nothing of the service.

main          the command `tocsin`: its groups, and what every failure becomes
commands/     one module per command or group of commands
command       what all commands share: the options that stand everywhere, examples in the help, the session
config        profiles, the environment, the local stack: whom to talk to, and with which key
client        HTTP: retries, pages, problems
output        everything that is printed passes here: text for people, JSON for machines, questions, progress
safe_text     what a server says cannot control a terminal. Pure.
exits, failures, times, values, sentences, reasons, user_files, template_files
"""

__version__ = "0.1.0"
