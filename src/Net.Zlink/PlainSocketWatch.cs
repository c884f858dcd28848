using System.Net;
using System.Net.Sockets;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Tells pollers when one of their plain sockets is ready: one background thread of the process, which lives while pollers wait for plain sockets, and selects among them.</summary>
/// <remarks>
/// Why a thread and Select: .NET's asynchronous operations consume what they wait for (a datagram, a connection), cannot wait for room to send, and a pending one makes the socket's close abortive. Select
/// (poll(2) on Unix, so without its limit on descriptors) does nothing to the socket. Each poller's entry fires once and is armed anew by its next wait, so a socket that stays ready burns no processor
/// time. The thread is not of the pool; it is called out of Select through a datagram socket that is connected to itself, which every platform has.
/// </remarks>
internal static class PlainSocketWatch
{
    // How long the thread waits for something to do before it ends: a loop that polls now and then does not pay for a new one each time.
    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(10);

    private static readonly Lock Gate = new();
    private static readonly Dictionary<IReadinessWatcher, PollItem[]> Armed = [];
    private static Socket? s_bell;
    private static bool s_rang;

    /// <summary>Tells the watcher, once, when one of the items is ready; replaces what was armed for it.</summary>
    public static void Arm(IReadinessWatcher watcher, PollItem[] items)
    {
        lock (Gate)
        {
            if (Armed.TryGetValue(watcher, out PollItem[]? armed) && ReferenceEquals(armed, items))
            {
                return; // Still watched since an earlier wait, which something else ended.
            }

            if (s_bell is null)
            {
                s_bell = NewBell();
                new Thread(static () => Run()) { IsBackground = true, Name = "Net.Zlink plain sockets" }.Start();
            }

            Armed[watcher] = items;
            Ring();
        }
    }

    /// <summary>Watches nothing any more for this watcher.</summary>
    public static void Leave(IReadinessWatcher watcher)
    {
        lock (Gate)
        {
            if (Armed.Remove(watcher))
            {
                Ring();
            }
        }
    }

    private static Socket NewBell()
    {
        var bell = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        bell.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        bell.Connect(bell.LocalEndPoint!);
        return bell;
    }

    /// <summary>Calls the thread out of its Select. Under the gate.</summary>
    private static void Ring()
    {
        if (!s_rang)
        {
            s_rang = true;
            s_bell!.Send([1]);
        }
    }

    private static void Run()
    {
        var round = new SelectRound();
        Span<byte> ring = stackalloc byte[1];
        bool isIdle = false;
        while (true)
        {
            Socket bell;
            lock (Gate)
            {
                if (isIdle && !s_rang && Armed.Count == 0)
                {
                    s_bell!.Dispose();
                    s_bell = null;
                    return;
                }

                bell = s_bell!;
                round.Fill(Armed, bell);
            }

            isIdle = !round.Select(Idle);
            lock (Gate)
            {
                if (round.IsRung)
                {
                    s_rang = false;
                    bell.Receive(ring);
                }

                round.TakeReady(Armed);
            }

            round.TellReady();
        }
    }

    /// <summary>What one Select asks and finds; its lists are kept for the next.</summary>
    private sealed class SelectRound
    {
        private readonly List<Socket> _read = [];
        private readonly List<Socket> _write = [];
        private readonly List<Socket> _error = [];
        private readonly List<IReadinessWatcher> _ready = [];
        private Socket? _bell;
        private bool _isBroken;

        /// <summary>The bell rang.</summary>
        public bool IsRung { get; private set; }

        public void Fill(Dictionary<IReadinessWatcher, PollItem[]> armed, Socket bell)
        {
            _bell = bell;
            _isBroken = false;
            IsRung = false;
            _read.Clear();
            _write.Clear();
            _error.Clear();
            _read.Add(bell);
            foreach (PollItem[] items in armed.Values)
            {
                foreach (PollItem item in items)
                {
                    Add(item);
                }
            }
        }

        /// <summary>False: nothing happened in that time.</summary>
        public bool Select(TimeSpan atMost)
        {
            try
            {
                Socket.Select(_read, _write, _error, atMost);
                IsRung = _read.Remove(_bell!);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // One of them was disposed: each poller looks itself, and finds its own.
                _isBroken = true;
            }

            return _isBroken || IsRung || _read.Count + _write.Count + _error.Count > 0;
        }

        /// <summary>Takes out those who have something to look at.</summary>
        public void TakeReady(Dictionary<IReadinessWatcher, PollItem[]> armed)
        {
            foreach ((IReadinessWatcher watcher, PollItem[] items) in armed)
            {
                if (_isBroken || Array.Exists(items, IsReady))
                {
                    _ready.Add(watcher);
                }
            }

            foreach (IReadinessWatcher watcher in _ready)
            {
                armed.Remove(watcher);
            }
        }

        /// <summary>Tells them, outside the gate.</summary>
        public void TellReady()
        {
            foreach (IReadinessWatcher watcher in _ready)
            {
                watcher.OnMayBeReady();
            }

            _ready.Clear();
        }

        private void Add(PollItem item)
        {
            if ((item.Events & PollEvents.In) == PollEvents.In)
            {
                _read.Add(item.Plain!);
            }

            if ((item.Events & PollEvents.Out) == PollEvents.Out)
            {
                _write.Add(item.Plain!);
            }

            _error.Add(item.Plain!); // Asked or not: a socket with an error ends every Select.
        }

        private bool IsReady(PollItem item) =>
            _error.Contains(item.Plain!)
            || ((item.Events & PollEvents.In) == PollEvents.In && _read.Contains(item.Plain!))
            || ((item.Events & PollEvents.Out) == PollEvents.Out && _write.Contains(item.Plain!));
    }
}
