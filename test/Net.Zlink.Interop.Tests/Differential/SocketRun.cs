using System.Diagnostics;
using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Porting;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Does what a <see cref="SocketPlan"/> says, and writes down what comes of it. The sockets of one implementation share a
/// context.</summary>
internal sealed class SocketRun : IDisposable
{
    private const char Nobody = '-';

    // Of a longer part an account has the beginning, the length and a sum of all bytes.
    private const int LongestText = 80;

    // On a busy machine a handshake over TLS takes longer than otherwise nothing may come.
    private const int HandshakeQuiets = 20;

    private const NativeEventTypes HandshakeIsOver = NativeEventTypes.ConnectionReady | NativeEventTypes.HandshakeFailedNoDetail
        | NativeEventTypes.HandshakeFailedProtocol | NativeEventTypes.HandshakeFailedAuth;

    private readonly SocketPlan _plan;
    private readonly TimeSpan _quiet;
    private readonly NativeContext _native = new();
    private readonly ZlinkContext _managed = new();
    private readonly IPeerSocket?[] _sockets;
    private readonly SocketWatch? _watch;
    private readonly string[] _endpoints;
    private readonly List<string> _account = [];
    private readonly List<Task> _closing = [];
    private int _handshakes;
    private readonly List<TestEndpoint> _places = [];

    /// <param name="plan">What it says.</param>
    /// <param name="kindOf">Whose socket each of them is.</param>
    /// <param name="quiet">How long nothing comes before nothing more comes.</param>
    public SocketRun(SocketPlan plan, Func<int, PeerKind> kindOf, TimeSpan quiet)
    {
        _plan = plan;
        _quiet = quiet;
        _endpoints = [.. plan.Endpoints.Select(static (transport, i) => transport is TestTransport.Inproc ? NameOf(i) : "")];
        _places.AddRange(plan.Endpoints.Distinct().Select(static transport => new TestEndpoint(transport)));
        _sockets = [.. plan.Types.Select((type, i) => Make(i, type, kindOf(i)))];
        _watch = plan.IsWatched ? new SocketWatch(_sockets) : null;
    }

    /// <summary>With these of our sockets it comes to the same account as with native ones alone.</summary>
    public static void AssertSame(SocketPlan plan, Func<int, PeerKind> ours) => Conversations.AssertSame(plan.ToString(), (kind, quiet) =>
    {
        using var run = new SocketRun(plan, kind == PeerKind.Native ? static _ => PeerKind.Native : ours, quiet);
        return run.Hold();
    });

    /// <summary>A part of a message as an account has it.</summary>
    public static string Text(byte[] part)
    {
        string text = string.Concat(part.Take(LongestText)
            .Select(static b => b < ' ' ? string.Create(CultureInfo.InvariantCulture, $"<{b}>") : ((char)b).ToString()));
        return part.Length <= LongestText ? text : string.Create(
            CultureInfo.InvariantCulture, $"{text}.. {part.Length} of {part.Sum(static b => (long)b)}");
    }

    /// <summary>Does it, once.</summary>
    public string Hold()
    {
        foreach (SocketStep step in _plan.Steps)
        {
            string outcome;
            try
            {
                outcome = Take(step, _sockets[step.Socket]!);
            }
            catch (ZlinkException e)
            {
                outcome = $"error {e.Error.ToNativeNumber()}";
            }
            catch (NativeException e)
            {
                outcome = $"error {e.Error}";
            }
            catch (InvalidOperationException)
            {
                outcome = $"error {NativeErrno.Invalid}"; // So ours calls what no application should do.
            }

            _account.Add($"{step}: {outcome}");
            if (step.Action is SocketAction.SendAndGoOn)
            {
                continue;
            }

            Settle();
            // Natively a pipe whose other side is gone ends when the application has found nothing more in it; a notice of that comes later
            // still.
            bool isSomebodyGone = _plan.HasImmediate || step.Action is SocketAction.Close or SocketAction.Unbind or SocketAction.Disconnect;
            if (!isSomebodyGone)
            {
                Look(NativePollEvents.In);
            }

            if (_plan.IsReadAtOnce)
            {
                ReceiveAll();
                if (isSomebodyGone)
                {
                    Settle();
                    ReceiveAll();
                }
            }

            Look(NativePollEvents.Out);
        }

        Settle(); // The last events.

        return string.Join('\n', _account.Concat(_watch?.Events(_endpoints) ?? []));
    }

    public void Dispose()
    {
        for (int i = 0; i < _sockets.Length; i++)
        {
            Close(i);
        }

        Task.WaitAll([.. _closing], Limits.Token);
        _native.Dispose();
        _managed.Dispose();
        _places.ForEach(static place => place.Dispose());
    }

    private static string NameOf(int endpoint) => string.Create(CultureInfo.InvariantCulture, $"inproc://e{endpoint}");

    private IPeerSocket Make(int index, NativeSocketType type, PeerKind kind)
    {
        IPeerSocket socket = kind == PeerKind.Managed ? new ManagedPeer(type, _managed) : new NativePeer(type, _native);
        socket.SetOption(NativeOption.RoutingId, Encoding.ASCII.GetBytes(_plan.RoutingIds[index]));
        // Nobody comes back to a port: each bind has another. And no event tells of trying.
        socket.SetOption(NativeOption.ReconnectInterval, 60_000);
        foreach ((int number, int value) in _plan.Options[index])
        {
            socket.SetOption(number, value);
        }

        if (_places.Find(static place => place.Certificates is not null) is { } place)
        {
            place.Equip(socket, socket); // Who binds demands a certificate, too.
        }

        return socket;
    }

    private string Take(SocketStep step, IPeerSocket socket)
    {
        switch (step.Action)
        {
            case SocketAction.Bind:
                _endpoints[step.Endpoint] = socket.Bind(_plan.Endpoints[step.Endpoint] is TestTransport.Inproc ? NameOf(step.Endpoint)
                    : NewEndpoint(_plan.Endpoints[step.Endpoint]));
                break;
            case SocketAction.BindAgain:
                socket.Bind(_endpoints[step.Endpoint]);
                break;
            case SocketAction.Unbind:
                socket.Unbind(_endpoints[step.Endpoint]);
                break;
            case SocketAction.ConnectAs:
                socket.SetOption(NativeOption.ConnectRoutingId, step.Topic);
                socket.Connect(_endpoints[step.Endpoint]);
                break;
            case SocketAction.Connect:
                socket.Connect(_endpoints[step.Endpoint]);
                break;
            case SocketAction.Disconnect:
                socket.Disconnect(_endpoints[step.Endpoint]);
                break;
            case SocketAction.Send or SocketAction.SendAndGoOn:
                return socket.Send(step.Parts!, TimeSpan.Zero).ToString();
            case SocketAction.Receive:
                return ReceiveAll(socket);
            case SocketAction.Subscribe:
                socket.Subscribe(step.Topic);
                break;
            case SocketAction.Unsubscribe:
                socket.Unsubscribe(step.Topic);
                break;
            case SocketAction.Set:
                return string.Create(CultureInfo.InvariantCulture, $"{socket.TrySetOption(step.Number, step.Topic)}");
            case SocketAction.Get:
                return SocketWatch.OptionOf(socket, step.Number, _endpoints);
            default:
                Close(step.Socket);
                break;
        }

        return "done";
    }

    private void Close(int index)
    {
        if (_sockets[index] is { } socket)
        {
            // Natively a socket is closed when its peers in this process have been called once more.
            _closing.Add(Limits.OnThread(socket.Dispose));
            _sockets[index] = null;
        }
    }

    /// <summary>Another each time, as ports are by themselves.</summary>
    private string NewEndpoint(TestTransport transport)
    {
        if (transport is TestTransport.Ipc)
        {
            _places.Add(new TestEndpoint(transport));
        }

        return _places.FindLast(place => place.Transport == transport)!.Text;
    }

    private void Look(NativePollEvents at)
    {
        if (_watch is not null)
        {
            _account.AddRange(_watch.Look(at));
        }
    }

    private void ReceiveAll()
    {
        for (int i = 0; i < _sockets.Length; i++)
        {
            if (_sockets[i] is { } socket && SocketPlan.Receives(_plan.Types[i]) && ReceiveAll(socket) is { Length: > 0 } received)
            {
                _account.Add($"S{i} has received: {received}");
                Settle();
            }
        }
    }

    private string ReceiveAll(IPeerSocket socket)
    {
        List<string> received = [];
        while (socket.Receive(TimeSpan.Zero) is { } message)
        {
            received.Add(string.Join('|', message.Select(Text)));
        }

        // Whose turn it is among several peers is nobody's promise, nor which of several that leave is noticed first. Of the topics of one
        // peer the order counts.
        bool hasTopics = !_plan.IsReadAtOnce && _plan.Types.Contains(NativeSocketType.XPub);
        return string.Join(", ", received.OrderBy(SenderOf)
            .ThenBy(message => !hasTopics && SenderOf(message) == Nobody ? message : "", StringComparer.Ordinal));
    }

    /// <summary>The number behind the first dash; of a notice, which says no sender, <see cref="Nobody"/>.</summary>
    private static char SenderOf(string message)
    {
        int dash = message.IndexOf('-', StringComparison.Ordinal);
        return dash < 0 || dash + 1 == message.Length ? Nobody : message[dash + 1];
    }

    /// <summary>Waits until nothing more happens: until no socket has an event to tell, having been asked again after the last.</summary>
    private void Settle()
    {
        for (int round = 0; round < 2; round++)
        {
            foreach (IPeerSocket? socket in _sockets)
            {
                socket?.Attend();
            }

            long start = Stopwatch.GetTimestamp();
            while (HearEvents() || (_handshakes > 0 && Stopwatch.GetElapsedTime(start) < HandshakeQuiets * _quiet))
            {
                // And the next.
            }

            _handshakes = 0; // One that this side has ended is not told of.
        }
    }

    /// <summary>Whether any socket had an event to tell. One waits for all of them.</summary>
    private bool HearEvents()
    {
        bool hasHeard = false;
        TimeSpan wait = _quiet / 2;
        for (int i = 0; i < _sockets.Length; i++)
        {
            if (_sockets[i] is { } socket)
            {
                while (socket.NextEvent(wait) is { } read)
                {
                    hasHeard = true;
                    _handshakes += (read.Type & (NativeEventTypes.Connected | NativeEventTypes.Accepted)) != NativeEventTypes.None ? 1
                        : (read.Type & HandshakeIsOver) != NativeEventTypes.None ? -1 : 0;
                    _watch?.Add(i, read);
                }

                wait = TimeSpan.Zero;
            }
        }

        return hasHeard;
    }
}
