namespace Net.Zlink.Engine;

internal enum FullCause
{
    Messages,

    Bytes,

    Context,
}
