using System.Net.Sockets;

namespace Net.Zlink.Transports;

internal enum AcceptErrorTier
{
    /// <summary>An error of one connection, or of the network to one peer: accept the next at once.</summary>
    Peer,

    /// <summary>No descriptors or memory are left: pause, because the loop would spin on a connection that it cannot accept.</summary>
    Exhausted,

    /// <summary>The listening socket is unusable.</summary>
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
            or SocketError.AccessDenied // A firewall rule refused this connection.
            => AcceptErrorTier.Peer,

        SocketError.TooManyOpenSockets or SocketError.NoBufferSpaceAvailable or SocketError.ProcessLimit
            or SocketError.SystemNotReady
            or SocketError.SocketError // Errors without a name in the runtime, ENOMEM among them.
            => AcceptErrorTier.Exhausted,

        _ => AcceptErrorTier.Fatal,
    };
}
