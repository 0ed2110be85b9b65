"""Tocsin: the house behind the doors in functions/, a room per capability.

intake        what is asked or told becomes a durable row before it is answered
audience      who hears of it, and why
delivery      one delivery, from its claim to its settlement
channels      the ways out: one small Protocol, one module per provider
content       the words: templates, what is said without one, and what may stand where
people        whom we know and what they want: users, devices, watches, preferences
inbox         what a person sees and does
feedback      what providers and readers say afterwards
outbox        everything asynchronous: workers, and the sweep that starts them
dead_letters  what automation gave up on
webhooks      what a tenant's own systems are told of its notifications
triggers      values that producers keep, and what their changes and dead letters set off
access        who may do what, how much, and the record of it
upkeep        the installation itself: schema, first keys, counting, the books, forgetting
http          HTTP, and nothing of the domain
api           the endpoints
store         the only SQL: a module per table; `rows` is what statements take and give
foundation    what every room stands on

functions -> api -> rooms -> store -> foundation; no room imports http or api, and no room leads back to itself."""
