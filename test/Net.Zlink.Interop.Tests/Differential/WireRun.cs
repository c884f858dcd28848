using System.Net.Sockets;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Holds a conversation with a socket of one implementation, and writes down what raw peers and application saw.</summary>
internal sealed class WireRun : IDisposable
{
    /// <summary>The socket's limit. Without one natively a length of 4 GiB is waited for.</summary>
    public const int LongestBody = 1000;

    // CLOSE 1000: where the application leaves, ours says so over WebSocket, the native core ends TCP without a word.
    private const string Farewell = "ws frame 8: 03e8";

    // CLOSE 1009, and why: so ours ends over WebSocket where a peer of STREAM announces more than it may, the native core without a word
    // there, too.
    private const string TooLong = "ws frame 8: 03f1";

    private const NativeEventTypes Attempts = NativeEventTypes.ConnectDelayed | NativeEventTypes.ConnectRetried
        | NativeEventTypes.Connected | NativeEventTypes.Closed;

    private readonly WireConversation _conversation;
    private readonly TimeSpan _quiet;
    private readonly IPeerSocket _socket;
    private readonly string _endpoint = "";
    private readonly List<TestEndpoint> _places = [];
    private readonly List<(Socket Socket, string Endpoint)> _listeners = [];
    private readonly WirePeer?[] _peers;
    private readonly bool[] _answers;
    private readonly List<(int Peer, WirePeer Wire)> _all = [];
    private readonly List<string> _account = [];
    private readonly List<PeerEvent> _events = [];
    private bool _hasLeft;
    private bool _canSend;
    private uint _asked;

    /// <param name="conversation">What happens.</param>
    /// <param name="kind">Whose socket.</param>
    /// <param name="quiet">How long nothing may come before nothing more comes.</param>
    public WireRun(WireConversation conversation, PeerKind kind, TimeSpan quiet)
    {
        _conversation = conversation;
        _quiet = quiet;
        _peers = new WirePeer?[conversation.Peers];
        _answers = new bool[conversation.Peers];
        _socket = kind.Create(conversation.Type);
        foreach ((int number, int value) in conversation.Options)
        {
            _socket.SetOption(number, value);
        }

        if (conversation.Type is not NativeSocketType.Stream)
        {
            _socket.SetOption(NativeOption.RoutingId, "Self"u8);
        }

        _socket.SetOption(NativeOption.MaxMessageSize, BitConverter.GetBytes((long)LongestBody));
        if (conversation.WelcomeMessage is { } welcome)
        {
            _socket.SetOption(NativeOption.XPubWelcomeMessage, welcome);
        }

        _places.Add(new TestEndpoint(conversation.Transport));
        _places[0].Equip(_socket);
        if (!conversation.Connects)
        {
            _endpoint = _socket.Bind(_places[0].Text);
            return;
        }

        _socket.SetOption(NativeOption.ReconnectInterval, 1);
        for (int i = 0; i < conversation.Peers; i++)
        {
            if (i > 0 && conversation.Transport is TestTransport.Ipc)
            {
                _places.Add(new TestEndpoint(conversation.Transport)); // Ports differ by themselves.
            }

            _listeners.Add(RawLine.Listen(conversation.Transport, _places[^1].Text));
            if (conversation.Aliases[i] is { } alias)
            {
                _socket.SetOption(NativeOption.ConnectRoutingId, alias);
            }

            _socket.Connect(_listeners[i].Endpoint);
        }
    }

    /// <summary>Holds it, once.</summary>
    public string Hold()
    {
        foreach (WireStep step in _conversation.Steps)
        {
            Take(step);
            Settle();
        }

        foreach ((int peer, WirePeer wire) in _all)
        {
            wire.Listen(_quiet);
            _account.Add($"peer {peer} heard:");
            _account.AddRange([.. wire.Notes.Where(note => !IsOursAlone(note)), .. _conversation.Account(wire.Heard.ToArray())]);
            if (_conversation.Transport is not TestTransport.Wss || !_conversation.Connects)
            {
                // Natively who connected over wss ends TLS behind a CLOSE, and is in no hurry behind a refusal.
                _account.Add(wire.IsOver ? "closed" : "open");
            }
        }

        return string.Join('\n', _account.Concat(Events()));
    }

    public void Dispose()
    {
        foreach ((_, WirePeer wire) in _all)
        {
            wire.Dispose();
        }

        _listeners.ForEach(static listener => listener.Socket.Dispose());
        _socket.Dispose();
        _places.ForEach(static place => place.Dispose());
    }

    private bool IsOursAlone(string note) => (_hasLeft && string.Equals(note, Farewell, StringComparison.Ordinal))
        || (_conversation.Type is NativeSocketType.Stream && note.StartsWith(TooLong, StringComparison.Ordinal));

    private void Take(WireStep step)
    {
        switch (step)
        {
            case WireStep.Open open:
                Open(open);
                break;
            case WireStep.Write write:
                _peers[write.Peer]?.Write(write);
                _answers[write.Peer] = write.Answers;
                break;
            case WireStep.WriteFrame write:
                _peers[write.Peer]?.Write(write);
                _answers[write.Peer] = write.Answers;
                break;
            case WireStep.End end:
                _peers[end.Peer]?.Listen(_quiet);
                _peers[end.Peer]?.End(end.Resets);
                _peers[end.Peer] = null;
                HearOfTheEnd();
                break;
            case WireStep.Anew anew:
                LeaveAndComeBack(anew.Peer);
                break;
            case WireStep.Send send:
                _account.Add($"send: {_socket.Send(send.Parts, TimeSpan.Zero)}");
                break;
            case WireStep.Call call:
                call.On(_socket);
                break;
            default:
                ReceiveAll(_quiet);
                break;
        }
    }

    private void LeaveAndComeBack(int peer)
    {
        _hasLeft = true;
        if (_conversation.Connects)
        {
            try
            {
                _socket.Disconnect(_listeners[peer].Endpoint);
            }
            catch (ZlinkException e) when (e.Error == ZlinkError.NotFound)
            {
                // After a fault of the peer's ours has left it already, natively it is to be left still.
            }

            Settle();
            _socket.Connect(_listeners[peer].Endpoint);
        }
        else
        {
            _socket.Unbind(_endpoint);
            Settle();
            Drain(); // Natively the listener closes a moment later.
            _socket.Bind(_endpoint);
        }
    }

    /// <summary>What has happened has reached the socket: each peer that is answered has been answered.</summary>
    private void Settle()
    {
        bool hasEnded = false;
        for (int i = 0; i < _peers.Length; i++)
        {
            if (_peers[i] is { IsOver: false } peer)
            {
                if (_answers[i] && _conversation.Ask(++_asked) is { } ask)
                {
                    peer.Ask(ask.Question, ask.Answer, 20 * _quiet);
                }
                else
                {
                    peer.Listen(_quiet);
                }

                hasEnded |= peer.IsOver;
            }
        }

        _socket.Attend();
        if (hasEnded)
        {
            // Natively the peer sees the end first, then the application is told, and only its answer ends what there was between the two.
            Drain();
            _socket.Attend();
        }

        if (_conversation.IsReadAtOnce)
        {
            ReceiveAll(_quiet / 10);
            bool canSend = _socket.IsReadyFor(NativePollEvents.Out);
            if (canSend != _canSend)
            {
                _canSend = canSend;
                _account.Add($"can send: {canSend}");
            }
        }
    }

    private void Open(WireStep.Open step)
    {
        TimeSpan limit = 10 * _quiet;
        WirePeer? opened = _conversation.Connects
            ? WirePeer.Accept(_places[0], _listeners[step.Peer].Socket, _listeners[step.Peer].Endpoint, step.Head, limit)
            : WirePeer.Connect(_conversation.Transport, _endpoint, step.Head, limit);
        _peers[step.Peer] = opened;
        _answers[step.Peer] = false;
        if (opened is null)
        {
            _account.Add($"peer {step.Peer} is not connected to any more");
        }
        else
        {
            _all.Add((step.Peer, opened));
        }
    }

    private void ReceiveAll(TimeSpan quiet)
    {
        if (_conversation.Type is NativeSocketType.Pub)
        {
            return;
        }

        List<string> received = [];
        while (_socket.Receive(quiet) is { } message)
        {
            received.Add($"received: {string.Join('|', message.Select(Convert.ToHexStringLower))}");
        }

        // Whose turn it is among several peers is nobody's promise.
        _account.AddRange(_conversation.Peers > 1 ? received.Order(StringComparer.Ordinal) : received);
    }

    /// <summary>A peer has ended: the socket knows of it, or did before.</summary>
    private void HearOfTheEnd()
    {
        while (NextEvent() is { } read && read.Type != NativeEventTypes.Disconnected)
        {
            // What was before it.
        }
    }

    /// <summary>Reads all events there are, and waits until there are no more.</summary>
    private void Drain()
    {
        while (NextEvent() is not null)
        {
            // And the next.
        }
    }

    private PeerEvent? NextEvent()
    {
        PeerEvent? read = _socket.NextEvent(_quiet);
        if (read is not null)
        {
            _events.Add(read);
        }

        return read;
    }

    private IEnumerable<string> Events()
    {
        Drain();

        // Of attempts to connect there are as many as time allows.
        PeerEvent[] events = [.. _events.Where(read => !_conversation.Connects || (read.Type & Attempts) == NativeEventTypes.None)];
        foreach (string name in _all.Select(static entry => entry.Wire.Name).Distinct(StringComparer.Ordinal))
        {
            int peer = _all.Find(entry => string.Equals(entry.Wire.Name, name, StringComparison.Ordinal)).Peer;
            yield return $"events of peer {peer}: {string.Join(' ', events.Where(read => IsOf(read, name)))}";
        }

        IEnumerable<PeerEvent> others = events.Where(read => _all.TrueForAll(entry => !IsOf(read, entry.Wire.Name)));
        yield return $"other events: {string.Join(' ', others)}";

        static bool IsOf(PeerEvent read, string name) => string.Equals(read.RemoteAddress, name, StringComparison.Ordinal);
    }
}
