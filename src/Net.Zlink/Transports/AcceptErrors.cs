using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>How an accept loop goes on after an error.</summary>
internal enum AcceptErrorTier
{
    /// <summary>One connection's fault, or the network's towards one peer: accept the next at once.</summary>
    Peer,

    /// <summary>
    /// The process or the machine is out of descriptors or memory: wait, or the loop would spin on a connection it cannot take.
    /// </summary>
    Exhausted,

    /// <summary>The listening socket itself is of no use any more.</summary>
    Fatal,
}

/// <summary>Sorts accept errors into tiers.</summary>
internal static class AcceptErrors
{
    /// <summary>The tier of <paramref name="error"/>.</summary>
    public static AcceptErrorTier Classify(SocketError error) => error switch
    {
        // Linux hands errors that were already pending on the new connection to accept() and asks to treat them like "try again".
        SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.ConnectionRefused
            or SocketError.NetworkDown or SocketError.NetworkUnreachable or SocketError.NetworkReset
            or SocketError.HostDown or SocketError.HostUnreachable or SocketError.TimedOut
            or SocketError.ProtocolOption or SocketError.OperationNotSupported
            or SocketError.NotConnected or SocketError.Shutdown or SocketError.Disconnecting
            or SocketError.Interrupted or SocketError.WouldBlock or SocketError.TryAgain
            or SocketError.AccessDenied // a firewall's rule refused this one connection
            => AcceptErrorTier.Peer,

        SocketError.TooManyOpenSockets or SocketError.NoBufferSpaceAvailable or SocketError.ProcessLimit
            or SocketError.SystemNotReady
            or SocketError.SocketError // what the runtime has no name for, out of memory (ENOMEM) among it
            => AcceptErrorTier.Exhausted,

        _ => AcceptErrorTier.Fatal,
    };
}
