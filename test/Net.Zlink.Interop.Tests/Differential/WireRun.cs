using System.Net;
using System.Net.Sockets;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Holds a conversation with a socket of one implementation, and writes down what raw peers and application saw.</summary>
internal sealed class WireRun : IDisposable
{
    // More than any body has. Without a limit natively a length of 4 GiB is waited for.
    private const long LongestBody = 1000;

    private const NativeEventTypes Attempts = NativeEventTypes.ConnectDelayed | NativeEventTypes.ConnectRetried | NativeEventTypes.Connected | NativeEventTypes.Closed;

    private readonly WireConversation _conversation;
    private readonly TimeSpan _quiet;
    private readonly IPeerSocket _socket;
    private readonly string _endpoint = "";
    private readonly Socket[] _listeners;
    private readonly WirePeer?[] _peers;
    private readonly bool[] _answers;
    private readonly List<(int Peer, WirePeer Wire)> _all = [];
    private readonly List<string> _account = [];
    private readonly List<PeerEvent> _events = [];
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

        _socket.SetOption(NativeOption.RoutingId, "Self"u8);
        _socket.SetOption(NativeOption.MaxMessageSize, BitConverter.GetBytes(LongestBody));
        if (conversation.WelcomeMessage is { } welcome)
        {
            _socket.SetOption(NativeOption.XPubWelcomeMessage, welcome);
        }

        _listeners = conversation.Connects ? [.. _peers.Select(static _ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))] : [];
        if (!conversation.Connects)
        {
            _endpoint = _socket.Bind("tcp://127.0.0.1:0");
        }

        _socket.SetOption(NativeOption.ReconnectInterval, 1);
        foreach (Socket listener in _listeners)
        {
            listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            listener.Listen();
            _socket.Connect(WirePeer.NameOf(listener.LocalEndPoint));
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
            _account.AddRange(wire.Account());
        }

        return string.Join('\n', _account.Concat(Events()));
    }

    public void Dispose()
    {
        foreach ((_, WirePeer wire) in _all)
        {
            wire.Dispose();
        }

        Array.ForEach(_listeners, static listener => listener.Dispose());
        _socket.Dispose();
    }

    private void Take(WireStep step)
    {
        switch (step)
        {
            case WireStep.Open open:
                Open(open.Peer);
                break;
            case WireStep.Write write:
                _peers[write.Peer]?.Write(write);
                _answers[write.Peer] = write.Answers;
                break;
            case WireStep.End end:
                _peers[end.Peer]?.Listen(_quiet);
                _peers[end.Peer]?.End(end.Resets);
                _peers[end.Peer] = null;
                HearOfTheEnd();
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

    /// <summary>What has happened has reached the socket: each peer that is answered has been answered.</summary>
    private void Settle()
    {
        for (int i = 0; i < _peers.Length; i++)
        {
            if (_peers[i] is { IsOver: false } peer)
            {
                if (_answers[i])
                {
                    peer.Ask(++_asked, 20 * _quiet);
                }
                else
                {
                    peer.Listen(_quiet);
                }
            }
        }

        _socket.Attend();
        if (_conversation.IsReadAtOnce)
        {
            ReceiveAll(_quiet / 10);
        }
    }

    private void Open(int peer)
    {
        WirePeer? opened = _conversation.Connects ? WirePeer.Accept(_listeners[peer], 10 * _quiet) : WirePeer.Connect(_endpoint);
        _peers[peer] = opened;
        _answers[peer] = false;
        if (opened is null)
        {
            _account.Add($"peer {peer} is not connected to any more");
        }
        else
        {
            _all.Add((peer, opened));
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
        while (NextEvent() is not null)
        {
            // All there are.
        }

        // Of attempts to connect there are as many as time allows.
        PeerEvent[] events = [.. _events.Where(read => !_conversation.Connects || (read.Type & Attempts) == NativeEventTypes.None)];
        foreach (string name in _all.Select(static entry => entry.Wire.Name).Distinct(StringComparer.Ordinal))
        {
            int peer = _all.Find(entry => string.Equals(entry.Wire.Name, name, StringComparison.Ordinal)).Peer;
            yield return $"events of peer {peer}: {string.Join(' ', events.Where(read => string.Equals(read.RemoteEndpoint, name, StringComparison.Ordinal)).Select(static read => read.ToString()))}";
        }

        yield return $"other events: {string.Join(' ', events.Where(read => _all.TrueForAll(entry => !string.Equals(entry.Wire.Name, read.RemoteEndpoint, StringComparison.Ordinal))).Select(static read => read.ToString()))}";
    }
}
