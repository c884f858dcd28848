namespace Net.Zlink.Engine;

internal enum SendStatus
{
    Accepted,

    Full,

    Closed,

    Terminated,

    Dropped,

    Unroutable,

    NotFramed,

    NoMemory,
}
