"""
Other tools' files, read into `model.imported` values. No backend, no use case; nothing of a file is run.

A format is a module with two functions: `recognises(head, name)` says by content whether a file is one of
its own, and `read(source)` yields an `ImportedConversation` for each thread of work and a `Refusal` for
each record that it could not read. `registry` lists them.
"""
