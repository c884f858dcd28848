using System.Net;
using System.Net.Sockets;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Tells pollers when one of their plain sockets is ready: one background thread of the process, which lives while pollers wait
/// for plain sockets, and selects among them.</summary>
/// <remarks>
/// Why a thread and Select: .NET's asynchronous operations consume what they wait for (a datagram, a connection), cannot wait for room to
/// send, and a pending one makes the socket's close abortive. Select (poll(2) on Unix, so without its limit on descriptors) does nothing to
/// the socket. Each poller's entry fires once and is armed anew by its next wait, so a socket that stays ready burns no processor time. The
/// thread is not of the pool; it is called out of Select through a datagram socket that is connected to itself, which every platform has.
/// Who stops watching waits until no Select holds the sockets: one that is disposed while Select holds it resets its peer (11 to 96 of 300
/// did).
/// </remarks>
internal static class PlainSocketWatch
{
    // How long the thread waits for something to do before it ends: a loop that polls now and then does not pay for a new one each time.
    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(10);

    // The bell ends a Select within some 50 us. A thread that got no processor for this long makes a close abrupt at worst, which is better
    // than one that hangs.
    private static readonly TimeSpan LongestRound = TimeSpan.FromSeconds(1);

    private static readonly Lock Gate = new();
    private static readonly Dictionary<Poller, PollItem[]> Armed = [];
    private static Socket? s_wakeup;
    private static bool s_rang;
    private static bool s_isSelecting;
    private static ManualResetEventSlim? s_roundEnd;

    /// <summary>Tells the poller, once, when one of its plain sockets is ready; replaces what was armed for it.</summary>
    /// <exception cref="ZlinkException">TooManySockets: the process has no descriptor left for the bell.</exception>
    public static void Arm(Poller poller)
    {
        if (poller.Plain.Length == 0)
        {
            return; // Most pollers: one lock of the process would be in the way of all of them.
        }

        lock (Gate)
        {
            PollItem[] items = poller.Plain; // In here: a socket whose removal has passed Leave is not armed again.
            if (items.Length == 0 || (Armed.TryGetValue(poller, out PollItem[]? armed) && ReferenceEquals(armed, items)))
            {
                return; // None left; or still watched since an earlier wait, which something else ended.
            }

            if (s_wakeup is null)
            {
                Socket bell = CreateWakeup();
                // It outlives its caller's context.
                new Thread(static () => Run()) { IsBackground = true, Name = "Net.Zlink plain sockets" }.UnsafeStart();
                s_wakeup = bell;
            }

            Armed[poller] = items;
            Ring();
        }
    }

    /// <summary>Watches nothing any more for this poller; when it returns, no Select holds a socket that the poller has let go. On a shard,
    /// which must not wait, one may for some microseconds more.</summary>
    public static void Leave(Poller poller)
    {
        ManualResetEventSlim? roundEnd = null;
        lock (Gate)
        {
            if (!Armed.Remove(poller))
            {
                return;
            }

            Ring();
            if (s_isSelecting && ShardLoop.Current is null)
            {
                roundEnd = s_roundEnd ??= new ManualResetEventSlim();
            }
        }

        roundEnd?.Wait(LongestRound);
    }

    private static Socket CreateWakeup()
    {
        Socket? bell = null;
        try
        {
            bell = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
            bell.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            bell.Connect(bell.LocalEndPoint!);
            return bell;
        }
        catch (SocketException e)
        {
            bell?.Dispose();
            throw new ZlinkException(ZlinkError.TooManySockets,
                $"To wait for plain sockets a poller needs a datagram socket on the loopback interface, and got none: {e.Message}. Raise "
                + $"the limit of open files.", e);
        }
    }

    /// <summary>Calls the thread out of its Select. Under the gate.</summary>
    private static void Ring()
    {
        if (!s_rang)
        {
            s_rang = true;
            s_wakeup!.Send([1]);
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
                    s_wakeup!.Dispose();
                    s_wakeup = null;
                    return;
                }

                bell = s_wakeup!;
                round.Fill(Armed, bell);
                s_isSelecting = true;
            }

            isIdle = !round.Select(Idle);
            lock (Gate)
            {
                s_isSelecting = false;
                s_roundEnd?.Set();
                s_roundEnd = null;
                if (round.IsRung)
                {
                    s_rang = false;
                    bell.Receive(ring);
                }

                round.DequeueReady(Armed);
            }

            round.NotifyReady();
        }
    }

    /// <summary>What one Select asks and finds; its lists are kept for the next.</summary>
    private sealed class SelectRound
    {
        private readonly List<Socket> _read = [];
        private readonly List<Socket> _write = [];
        private readonly List<Socket> _error = [];
        private readonly List<Poller> _ready = [];
        private Socket? _wakeup;
        private bool _isBroken;

        /// <summary>The bell rang.</summary>
        public bool IsRung { get; private set; }

        public void Fill(Dictionary<Poller, PollItem[]> armed, Socket bell)
        {
            _wakeup = bell;
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
                IsRung = _read.Remove(_wakeup!);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // One of them was disposed: each poller looks itself, and finds its own.
                _isBroken = true;
            }

            return _isBroken || IsRung || _read.Count + _write.Count + _error.Count > 0;
        }

        /// <summary>Takes out those who have something to look at.</summary>
        public void DequeueReady(Dictionary<Poller, PollItem[]> armed)
        {
            foreach ((Poller poller, PollItem[] items) in armed)
            {
                if (_isBroken || Array.Exists(items, IsReady))
                {
                    _ready.Add(poller);
                }
            }

            foreach (Poller poller in _ready)
            {
                armed.Remove(poller);
            }
        }

        /// <summary>Tells them, outside the gate.</summary>
        public void NotifyReady()
        {
            foreach (Poller poller in _ready)
            {
                poller.OnMayBeReady();
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
