using System.Net.Sockets;

namespace Net.Zlink.Transports;

internal enum AcceptErrorTier
{
    Peer,

    /// <summary>No descriptors or memory are left: pause, because the loop would spin on a connection that it cannot accept.</summary>
    Exhausted,

    Fatal,
}

internal static class AcceptErrors
{
    public static AcceptErrorTier Classify(SocketError error) => error switch
    {
        // Linux passes errors that were pending on the new connection to accept(), to be treated like "try again".
        SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.ConnectionRefused
            or SocketError.NetworkDown or SocketError.NetworkUnreachable or SocketError.NetworkReset
            or SocketError.HostDown or SocketError.HostUnreachable or SocketError.TimedOut
            or SocketError.ProtocolOption or SocketError.OperationNotSupported
            or SocketError.NotConnected or SocketError.Shutdown or SocketError.Disconnecting
            or SocketError.Interrupted or SocketError.WouldBlock or SocketError.TryAgain
            or SocketError.AccessDenied
            => AcceptErrorTier.Peer,

        SocketError.TooManyOpenSockets or SocketError.NoBufferSpaceAvailable or SocketError.ProcessLimit
            or SocketError.SystemNotReady
            or SocketError.SocketError
            => AcceptErrorTier.Exhausted,

        _ => AcceptErrorTier.Fatal,
    };
}
