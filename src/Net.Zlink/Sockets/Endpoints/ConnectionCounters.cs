namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What ZMP and STREAM count of their connections alike.</summary>
internal abstract class ConnectionCounters
{
    public long Accepted;
    public long Dialled;
    public long Refused;
    public long AcceptErrors;

    public FailedHandshakes FailedHandshakes { get; } = new();
}
