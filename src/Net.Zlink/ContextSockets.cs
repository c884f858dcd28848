using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

internal sealed class ContextSockets(int most)
{
    private readonly Lock _gate = new();
    private readonly HashSet<IContextSocket> _living = [];
    private readonly SocketTotals _gone = new();
    private readonly SocketSums _goneStreams = new();

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _living.Count;
            }
        }
    }

    public IContextSocket[] OpenSockets
    {
        get
        {
            lock (_gate)
            {
                return [.. _living];
            }
        }
    }

    public UndeliveredSummary Undelivered { get; } = new();

    public void Add(IContextSocket socket)
    {
        lock (_gate)
        {
            if (_living.Count >= most)
            {
                int delivering = _living.Count(static one => one.IsClosed);
                string dead = delivering == 0 ? ""
                    : $"; {delivering} of them are disposed and still deliver accepted messages: a finite Linger limits that time";
                throw new ZlinkException(ZlinkError.TooManySockets,
                    $"the context already has {most} sockets, the maximum; dispose some or raise MaxSockets{dead}");
            }

            _living.Add(socket);
        }
    }

    public void Forget(IContextSocket socket)
    {
        SocketCore? core = (socket as ZmpSocket)?.Core;
        var last = new SocketSums();
        last.Add(socket.Counters, socket.LinkCount);
        last.Close();
        lock (_gate)
        {
            if (!_living.RemoveAndTrim(socket))
            {
                return;
            }

            if (core is null)
            {
                _goneStreams.Add(last);
            }
            else
            {
                _gone.Add(core.Type, last);
            }

            // Under the lock: the socket's end and the context's may meet here, and the second one goes on to the report.
            Undelivered.Add(socket.Counters, socket.AllClosed.IsCompleted);
        }
    }

    public SocketTotals SumSockets()
    {
        SocketTotals totals;
        PooledCopy<IContextSocket> living;
        lock (_gate)
        {
            totals = _gone.Copy();
            living = new PooledCopy<IContextSocket>(_living);
        }

        using (living)
        {
            // A socket that ends meanwhile is not in the totals yet, and its counts no longer change.
            foreach (IContextSocket socket in living.Items)
            {
                if (socket is ZmpSocket { Core: { } core })
                {
                    totals.Add(core);
                }
            }
        }

        return totals;
    }

    public SocketStatistics SumStreams()
    {
        var sum = new SocketSums();
        PooledCopy<IContextSocket> living;
        lock (_gate)
        {
            sum.Add(_goneStreams);
            living = new PooledCopy<IContextSocket>(_living);
        }

        using (living)
        {
            foreach (IContextSocket socket in living.Items)
            {
                if (socket is StreamSocket)
                {
                    sum.Add(socket.Counters, socket.LinkCount);
                }
            }
        }

        return sum.ToStatistics();
    }
}
