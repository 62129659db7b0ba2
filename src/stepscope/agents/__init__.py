"""Answers for agents: six tools over the Model Context Protocol, on standard input and output.

    roots       which paths may be opened
    fit         answers of at most 4 kB, with how to get the rest
    recordings  what is open: a trace in a thread, and a console for SQL
    tools       the six tools: arguments in, answers out; they know nothing of the protocol
    server      the protocol (needs mcp, the extra "mcp")

All tools only read. SQL runs in the console of the page, in processes that can do nothing but answer. Text of
recordings is data: it is passed on as strings of JSON, and the instructions for agents say so.
"""
