using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Does what a <see cref="SocketConversation"/> says, and writes down what comes of it. The sockets of one implementation share a context.</summary>
internal sealed class SocketRun : IDisposable
{
    private const char Nobody = '-';

    private readonly SocketConversation _conversation;
    private readonly TimeSpan _quiet;
    private readonly NativeContext _native = new();
    private readonly ZlinkContext _managed = new();
    private readonly TestEndpoint _first;
    private readonly IPeerSocket?[] _sockets;
    private readonly string[] _endpoints = ["", ""];
    private readonly List<string> _account = [];
    private readonly List<Task> _closing = [];
    private readonly List<TestEndpoint> _bound = [];

    /// <param name="conversation">What it says.</param>
    /// <param name="kindOf">Whose socket each of them is.</param>
    /// <param name="quiet">How long nothing comes before nothing more comes.</param>
    public SocketRun(SocketConversation conversation, Func<int, PeerKind> kindOf, TimeSpan quiet)
    {
        _conversation = conversation;
        _quiet = quiet;
        _first = new TestEndpoint(conversation.Transport);
        _sockets = new IPeerSocket?[conversation.Types.Length];
        for (int i = 0; i < _sockets.Length; i++)
        {
            NativeSocketType type = conversation.Types[i];
            IPeerSocket socket = kindOf(i) == PeerKind.Managed ? new ManagedPeer(type, _managed) : new NativePeer(type, _native);
            socket.SetOption(NativeOption.RoutingId, Encoding.ASCII.GetBytes("S" + i));
            socket.SetOption(NativeOption.ReconnectInterval, 60_000); // Nobody comes back to a port: each bind has another. And no event tells of trying.
            foreach ((int number, int value) in conversation.Options[i])
            {
                socket.SetOption(number, value);
            }

            _sockets[i] = socket;
            if (i > 0)
            {
                _first.Equip(_sockets[0]!, socket);
            }
        }
    }

    /// <summary>Does it, once.</summary>
    public string Hold()
    {
        foreach (SocketStep step in _conversation.Steps)
        {
            string outcome;
            try
            {
                outcome = Take(step, _sockets[step.Socket]!);
            }
            catch (ZlinkException e)
            {
                outcome = $"error {(int)e.Error}";
            }
            catch (NativeException e)
            {
                outcome = $"error {e.Error}";
            }

            _account.Add($"{step}: {outcome}");
            Settle();
            if (_conversation.IsReadAtOnce)
            {
                ReceiveAll();
                if (_conversation.HasImmediate)
                {
                    // Natively a pipe that was made with its connection ends when the application has found nothing more in it.
                    Settle();
                    ReceiveAll();
                }
            }
        }

        return string.Join('\n', _account);
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
        _first.Dispose();
        _bound.ForEach(static endpoint => endpoint.Dispose());
    }

    private string Take(SocketStep step, IPeerSocket socket)
    {
        switch (step.Action)
        {
            case SocketAction.Bind:
                _endpoints[step.Endpoint] = socket.Bind(_conversation.Transport is TestTransport.Inproc ? EndpointOf(step) : NewEndpoint());
                break;
            case SocketAction.Unbind:
                socket.Unbind(EndpointOf(step));
                break;
            case SocketAction.Connect:
                socket.Connect(EndpointOf(step));
                break;
            case SocketAction.Disconnect:
                socket.Disconnect(EndpointOf(step));
                break;
            case SocketAction.Send:
                return socket.Send(step.Parts!, TimeSpan.Zero).ToString();
            case SocketAction.Receive:
                return ReceiveAll(socket);
            case SocketAction.Subscribe:
                socket.Subscribe(step.Topic);
                break;
            case SocketAction.Unsubscribe:
                socket.Unsubscribe(step.Topic);
                break;
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
    private string NewEndpoint()
    {
        if (_conversation.Transport is not TestTransport.Ipc)
        {
            return _first.Text;
        }

        var endpoint = new TestEndpoint(_conversation.Transport);
        _bound.Add(endpoint);
        return endpoint.Text;
    }

    private void ReceiveAll()
    {
        for (int i = 0; i < _sockets.Length; i++)
        {
            if (_sockets[i] is { } socket && SocketConversation.Receives(_conversation.Types[i]) && ReceiveAll(socket) is { Length: > 0 } received)
            {
                _account.Add($"S{i} has received: {received}");
                Settle();
            }
        }
    }

    private string EndpointOf(SocketStep step) => _conversation.Transport is TestTransport.Inproc ? $"inproc://e{step.Endpoint}" : _endpoints[step.Endpoint];

    private string ReceiveAll(IPeerSocket socket)
    {
        List<string> received = [];
        while (socket.Receive(TimeSpan.Zero) is { } message)
        {
            received.Add(string.Join('|', message.Select(Text)));
        }

        // Whose turn it is among several peers is nobody's promise, nor which of several that leave is noticed first.
        return string.Join(", ", received.OrderBy(SenderOf).ThenBy(message => _conversation.IsReadAtOnce && SenderOf(message) == Nobody ? message : "", StringComparer.Ordinal));
    }

    /// <summary>The number behind the first dash; of a notice, which says no sender, <see cref="Nobody"/>.</summary>
    private static char SenderOf(string message)
    {
        int dash = message.IndexOf('-', StringComparison.Ordinal);
        return dash < 0 ? Nobody : message[dash + 1];
    }

    private static string Text(byte[] part) => string.Concat(part.Select(static b => b < ' ' ? $"<{b}>" : ((char)b).ToString()));

    /// <summary>Waits until nothing more happens: until no socket has an event to tell, having been asked again after the last.</summary>
    private void Settle()
    {
        for (int round = 0; round < 2; round++)
        {
            foreach (IPeerSocket? socket in _sockets)
            {
                socket?.Attend();
                while (socket?.NextEvent(_quiet / 4) is not null)
                {
                    // And the next.
                }
            }
        }
    }
}
