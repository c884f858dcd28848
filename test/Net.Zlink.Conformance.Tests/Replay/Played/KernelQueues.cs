namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>
/// Asks the kernel what is still under way on TCP connections of this machine: bytes (and FINs, which count as one) that were sent but not
/// yet read by
/// the program at the other end, and connections that were made but not yet accepted. It makes "nothing more comes" a fact, without waiting
/// for real time.
/// Off Linux it can't be asked: there it says that nothing is under way, and the absence of bytes is proven less strictly.
/// </summary>
internal static class KernelQueues
{
    /// <summary>
    /// Sent and not acknowledged does not mean "under way" for long: on loopback a segment is at its receiver at once, while its
    /// acknowledgement may be put off by 40 ms.
    /// Past this time it no longer counts.
    /// </summary>
    private static readonly TimeSpan Acknowledgement = TimeSpan.FromMilliseconds(5);

    private static readonly SocketDiagnostics? Kernel = SocketDiagnostics.TryOpen();

    /// <summary>True when nothing is under way on these connections and nobody waits at these listeners.</summary>
    /// <param name="connections">The played ends.</param>
    /// <param name="listeners">Ports.</param>
    /// <param name="looking">For how long the caller has been looking.</param>
    public static bool AreEmpty(IEnumerable<PlayedConnection> connections, IEnumerable<int> listeners, TimeSpan looking)
        => Kernel is null || (listeners.All(port => Kernel.Find(port, otherPort: 0) is not { State: TcpState.Listen, Unread: > 0 })
            && connections.All(connection => HasRead(connection) && IsEmpty(connection.LocalPort, connection.RemotePort, looking)
                && IsEmpty(connection.RemotePort, connection.LocalPort, looking)));

    /// <summary>True when the program at the other end has read all that was sent on this connection, its end included: all of it has
    /// arrived there, and none of it waits.</summary>
    /// <remarks>Arrived it is as a rule when a send returns; on a busy machine the kernel may put that off, too.</remarks>
    public static bool HasRead(PlayedConnection connection) => Kernel?.Find(connection.RemotePort, connection.LocalPort) switch
    {
        // For one that is gone the kernel shows the listener that it came by.
        null or { State: TcpState.TimeWait or TcpState.Closed or TcpState.Listen } => true,
        // Let go of: nobody will read it.
        { Inode: 0, State: TcpState.FinWait1 or TcpState.FinWait2 or TcpState.Closing or TcpState.LastAck } => true,
        { } end => end.Unread == 0 && (connection.IsDropped || end.Arrived >= connection.SentCount + (connection.ClosedHere ? 1 : 0)),
    };

    /// <summary>The number of the implementation's end among this process's files; 0 when it is not known.</summary>
    public static uint InodeOfOtherEnd(PlayedConnection connection) => Kernel?.Find(connection.RemotePort, connection.LocalPort)?.Inode
        ?? 0;

    /// <summary>
    /// True while this process holds that socket. A reset leaves nothing in the kernel's queues to be read: that the implementation has
    /// noticed it is seen by its letting the socket go.
    /// </summary>
    public static bool IsHeld(uint inode)
    {
        string target = $"socket:[{inode}]";
        return inode != 0 && Directory.EnumerateFileSystemEntries("/proc/self/fd").Any(entry => IsLinkTo(entry, target));
    }

    private static bool IsLinkTo(string entry, string target)
    {
        try
        {
            return string.Equals(new FileInfo(entry).LinkTarget, target, StringComparison.Ordinal);
        }
        catch (IOException)
        {
            return false; // Closed meanwhile.
        }
    }

    private static bool IsEmpty(int port, int otherPort, TimeSpan looking) => Kernel!.Find(port, otherPort) switch
    {
        null or { State: TcpState.TimeWait or TcpState.Closed } => true,
        { State: TcpState.SynSent or TcpState.SynReceived or TcpState.NewSynReceived } => false,
        { } end => end.Unread == 0 && (end.Unacknowledged <= 1 || looking > Acknowledgement), // 1: a FIN
    };
}
