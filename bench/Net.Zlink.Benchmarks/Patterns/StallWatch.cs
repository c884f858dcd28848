namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Ends the process, and says how the sockets stand, when a measurement makes no progress: a message that never comes is not to be waited for.</summary>
internal sealed class StallWatch : IDisposable
{
    // A thousand messages of a megabyte take a second on a slow machine; a pause of the whole machine some seconds.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly ZlinkSocket[] _sockets;
    private readonly Timer _timer;
    private long _progress;
    private long _seen = -1;

    public StallWatch(params ZlinkSocket[] sockets)
    {
        _sockets = sockets;
        _timer = new Timer(_ => Look(), state: null, Patience, Patience);
    }

    public void Progressed() => Interlocked.Increment(ref _progress);

    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        long progress = Interlocked.Read(ref _progress);
        if (Interlocked.Exchange(ref _seen, progress) != progress)
        {
            return;
        }

        Console.Error.WriteLine($"stalled: no progress for {Patience.TotalSeconds:0} s");
        foreach (ZlinkSocket socket in _sockets)
        {
            Console.Error.WriteLine($"{socket.GetStatistics()} can send: {socket.CanSend}, can receive: {socket.CanReceive}; {string.Join("; ", socket.GetPeers())}");
        }

        Environment.Exit(1);
    }
}
