using System.Runtime.InteropServices;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

internal sealed class ContextSockets(int most)
{
    private readonly Lock _gate = new();
    private readonly HashSet<ZlinkSocket> _living = [];
    private readonly Dictionary<string, SocketStatistics> _gone = new(StringComparer.Ordinal);

    public ZlinkSocket[] OpenSockets
    {
        get
        {
            lock (_gate)
            {
                return [.. _living];
            }
        }
    }

    /// <summary>Complete when each socket is forgotten.</summary>
    public ShutdownReport Report { get; } = new();

    public void Add(ZlinkSocket socket)
    {
        // Not a continuation of the task: while the thread pool is busy, sockets that have ended would keep their places.
        socket.Parts.Closed = () => Forget(socket);

        lock (_gate)
        {
            if (_living.Count >= most)
            {
                int delivering = _living.Count(static one => one.Parts.IsClosed);
                string dead = delivering == 0 ? ""
                    : $"; {delivering} of them are disposed and still deliver accepted messages: a finite Linger limits that time";
                throw new ZlinkException(ZlinkError.TooManySockets,
                    $"the context already has {most} sockets, the maximum; dispose some or raise MaxSockets{dead}");
            }

            _living.Add(socket);
        }
    }

    public void Forget(ZlinkSocket socket)
    {
        lock (_gate)
        {
            if (!_living.RemoveAndTrim(socket))
            {
                return;
            }

            Of(_gone, socket.Core.TypeName).AddGone(socket.Counters);

            // Under the lock: the socket's end and the context's may meet here, and the second one goes on to the report.
            Report.Add(socket.Counters, socket.Parts.AllClosed.IsCompleted);
        }
    }

    /// <summary>Of each type that the context has or had, with the sockets that have gone.</summary>
    public IReadOnlyDictionary<string, SocketStatistics> SumByType()
    {
        Dictionary<string, SocketStatistics> sums = new(StringComparer.Ordinal);
        lock (_gate)
        {
            foreach ((string type, SocketStatistics gone) in _gone)
            {
                Of(sums, type).Add(gone);
            }

            foreach (ZlinkSocket socket in _living)
            {
                Of(sums, socket.Core.TypeName).Add(socket.Counters, socket.PeerCount);
            }
        }

        return sums;
    }

    private static SocketStatistics Of(Dictionary<string, SocketStatistics> sums, string type) =>
        CollectionsMarshal.GetValueRefOrAddDefault(sums, type, out _) ??= new SocketStatistics();
}
