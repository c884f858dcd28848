using Net.Zlink;

namespace EchoServer;

/// <summary>An endpoint of the command line cannot be listened on; <see cref="Cause"/> has the reason.</summary>
internal sealed class CannotListenException(string endpoint, ZlinkException cause) : Exception(cause.Message, cause)
{
    public string Endpoint { get; } = endpoint;

    public ZlinkException Cause { get; } = cause;
}
