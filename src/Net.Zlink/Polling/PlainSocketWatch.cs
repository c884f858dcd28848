using System.Net;
using System.Net.Sockets;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>
/// .NET's asynchronous operations consume what they wait for (a datagram, a connection), cannot wait for capacity to send, and make a close
/// abortive while pending. Select (poll(2) on Unix, so without its descriptor limit) does nothing to the socket. A datagram socket that is
/// connected to itself wakes the thread. Leave waits until no Select holds the poller's sockets: of 300 sockets disposed during a Select,
/// 11 to 96 reset their peer.
/// </summary>
internal static class PlainSocketWatch
{
    // How long the thread waits for work before it ends, so that an occasional poll does not start a thread each time.
    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(10);

    // A wake-up ends a Select within 50 us. After this time the close may be abortive, which is better than a hang.
    private static readonly TimeSpan LongestRound = TimeSpan.FromSeconds(1);

    private static readonly Lock Gate = new();
    private static readonly Dictionary<Poller, PollItem[]> Armed = [];
    private static Socket? s_wakeup;
    private static bool s_rang;
    private static bool s_isSelecting;
    private static ManualResetEventSlim? s_roundEnd;

    public static void Arm(Poller poller)
    {
        if (poller.Plain.Length == 0)
        {
            return;
        }

        lock (Gate)
        {
            PollItem[] items = poller.Plain; // Under the gate: a socket whose removal has passed Leave is not armed again.
            if (items.Length == 0 || (Armed.TryGetValue(poller, out PollItem[]? armed) && ReferenceEquals(armed, items)))
            {
                return; // None left, or still armed since an earlier wait.
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

    /// <summary>
    /// When it returns, no Select holds a removed socket. On a shard, which must not wait, one may for some microseconds more.
    /// </summary>
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

    private sealed class SelectRound
    {
        private readonly List<Socket> _read = [];
        private readonly List<Socket> _write = [];
        private readonly List<Socket> _error = [];
        private readonly List<Poller> _ready = [];
        private Socket? _wakeup;
        private bool _isBroken;

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

        public bool Select(TimeSpan atMost)
        {
            try
            {
                Socket.Select(_read, _write, _error, atMost);
                IsRung = _read.Remove(_wakeup!);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // One of the sockets was disposed: each poller checks its own.
                _isBroken = true;
            }

            return _isBroken || IsRung || _read.Count + _write.Count + _error.Count > 0;
        }

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

            _error.Add(item.Plain!); // Always: a socket with an error ends every Select.
        }

        private bool IsReady(PollItem item) =>
            _error.Contains(item.Plain!)
            || ((item.Events & PollEvents.In) == PollEvents.In && _read.Contains(item.Plain!))
            || ((item.Events & PollEvents.Out) == PollEvents.Out && _write.Contains(item.Plain!));
    }
}
