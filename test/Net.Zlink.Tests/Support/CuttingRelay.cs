using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>Stands between a connecting and a bound endpoint, of tcp or ipc, and cuts connection after connection in two: each behind a
/// number of bytes that it was told, counted in both directions together.</summary>
internal sealed class CuttingRelay : IAsyncDisposable
{
    private readonly EndPoint _target;
    private readonly Socket _listener;
    private readonly CancellationTokenSource _ended = new();
    private readonly Queue<int> _budgets;
    private readonly List<Task> _tasks = [];
    private readonly Task _accepting;
    private int _cuts;

    /// <param name="boundEndpoint">Where it hands on to.</param>
    /// <param name="budgets">After how many bytes each connection is cut; further ones live.</param>
    public CuttingRelay(string boundEndpoint, IEnumerable<int> budgets)
    {
        _target = RawPeer.EndPointOf(boundEndpoint);
        _listener = NewSocket();
        _budgets = new Queue<int>(budgets);
        Expected = _budgets.Count;
        _listener.Bind(_target is IPEndPoint ? new IPEndPoint(IPAddress.Loopback, 0)
            : new UnixDomainSocketEndPoint(Path.Combine(Path.GetTempPath(), $"zl-{Guid.NewGuid():N}")));
        _listener.Listen();
        _accepting = AcceptAsync();
    }

    public string Endpoint => $"{(_target is IPEndPoint ? "tcp" : "ipc")}://{_listener.LocalEndPoint}";

    public int Expected { get; }

    /// <summary>How many it has cut.</summary>
    public int Cuts => Volatile.Read(ref _cuts);

    public async ValueTask DisposeAsync()
    {
        await _ended.CancelAsync();
        _listener.Dispose();
        await _accepting.WaitAsync(Guard.Limit);
        await Task.WhenAll(_tasks).WaitAsync(Guard.Limit);
        _ended.Dispose();
    }

    private Socket NewSocket() => new(_target.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);

    private static bool IsEnd(Exception exception) => exception is SocketException or ObjectDisposedException or OperationCanceledException;

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                Socket accepted = await _listener.AcceptAsync(_ended.Token);
                _tasks.Add(RelayAsync(accepted, NextBudget()));
            }
        }
        catch (Exception e) when (IsEnd(e))
        {
            // The test is over.
        }
    }

    [SuppressMessage("Reliability", "CA2025", Justification = "Both pumps are awaited before the sockets go.")]
    private async Task RelayAsync(Socket accepted, long budget)
    {
        using Socket near = accepted;
        using Socket far = NewSocket();
        if (_target is IPEndPoint)
        {
            near.NoDelay = far.NoDelay = true;
        }

        try
        {
            await far.ConnectAsync(_target, _ended.Token);
            var left = new Budget(budget);
            await Task.WhenAny(PumpAsync(near, far, left), PumpAsync(far, near, left));
            if (left.IsUsedUp)
            {
                Interlocked.Increment(ref _cuts);
            }
            else
            {
                GiveBack(budget); // An end refused the connection: it was not this one's turn to be cut.
            }
        }
        catch (Exception e) when (IsEnd(e))
        {
            GiveBack(budget); // The target refuses: the connecting end sees its connection go.
        }
    }

    private long NextBudget()
    {
        lock (_budgets)
        {
            return _budgets.TryDequeue(out int budget) ? budget : long.MaxValue;
        }
    }

    private void GiveBack(long budget)
    {
        if (budget < long.MaxValue)
        {
            lock (_budgets)
            {
                _budgets.Enqueue((int)budget);
            }
        }
    }

    private async Task PumpAsync(Socket from, Socket to, Budget left)
    {
        byte[] buffer = new byte[32 * 1024];
        try
        {
            while (!left.IsUsedUp)
            {
                int count = await from.ReceiveAsync(buffer, SocketFlags.None, _ended.Token);
                int allowed = left.Take(count);
                for (int sent = 0; sent < allowed;)
                {
                    sent += await to.SendAsync(buffer.AsMemory(sent, allowed - sent), SocketFlags.None, _ended.Token);
                }

                if (count == 0)
                {
                    return;
                }
            }
        }
        catch (Exception e) when (IsEnd(e))
        {
            // Cut from the other side.
        }
    }

    private sealed class Budget(long bytes)
    {
        private long _left = bytes;

        public bool IsUsedUp => Volatile.Read(ref _left) <= 0;

        /// <summary>How many of so many bytes still pass.</summary>
        public int Take(int count)
        {
            long before = Interlocked.Add(ref _left, -count) + count;
            return (int)Math.Clamp(before, 0, count);
        }
    }
}
