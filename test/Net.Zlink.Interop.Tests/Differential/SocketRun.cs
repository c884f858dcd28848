using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Does what a <see cref="SocketConversation"/> says with sockets of one implementation, and writes down what comes of it.</summary>
internal sealed class SocketRun : IDisposable
{
    private readonly SocketConversation _conversation;
    private readonly TimeSpan _quiet;
    private readonly NativeContext? _native;
    private readonly ZlinkContext? _managed;
    private readonly IPeerSocket?[] _sockets;
    private readonly string[] _endpoints = ["", ""];
    private readonly List<string> _account = [];
    private readonly List<Task> _closing = [];

    public SocketRun(SocketConversation conversation, PeerKind kind, TimeSpan quiet)
    {
        _conversation = conversation;
        _quiet = quiet;
        _native = kind == PeerKind.Native ? new NativeContext() : null;
        _managed = kind == PeerKind.Managed ? new ZlinkContext() : null;
        _sockets = new IPeerSocket?[conversation.Types.Length];
        for (int i = 0; i < _sockets.Length; i++)
        {
            NativeSocketType type = conversation.Types[i];
            IPeerSocket socket = _native is null ? new ManagedPeer(type, _managed!) : new NativePeer(type, _native);
            socket.SetOption(NativeOption.RoutingId, Encoding.ASCII.GetBytes("S" + i));
            socket.SetOption(NativeOption.ReconnectInterval, 60_000); // Nobody comes back to a port: each bind has another. And no event tells of trying.
            foreach ((int number, int value) in conversation.Options[i])
            {
                socket.SetOption(number, value);
            }

            _sockets[i] = socket;
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
            for (int i = 0; i < _sockets.Length && _conversation.IsReadAtOnce; i++)
            {
                if (_sockets[i] is { } socket && SocketConversation.Receives(_conversation.Types[i]) && ReceiveAll(socket) is { Length: > 0 } received)
                {
                    _account.Add($"S{i} has received: {received}");
                    Settle();
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
        _native?.Dispose();
        _managed?.Dispose();
    }

    private string Take(SocketStep step, IPeerSocket socket)
    {
        switch (step.Action)
        {
            case SocketAction.Bind:
                _endpoints[step.Endpoint] = socket.Bind(_conversation.IsInproc ? EndpointOf(step) : "tcp://127.0.0.1:0");
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

    private string EndpointOf(SocketStep step) => _conversation.IsInproc ? $"inproc://e{step.Endpoint}" : _endpoints[step.Endpoint];

    private static string ReceiveAll(IPeerSocket socket)
    {
        List<string> received = [];
        while (socket.Receive(TimeSpan.Zero) is { } message)
        {
            received.Add(string.Join('|', message.Select(Text)));
        }

        // Whose turn it is among several peers is nobody's promise.
        return string.Join(", ", received.OrderBy(SenderOf));
    }

    /// <summary>The number behind the first dash; what has none, and so no sender, first.</summary>
    private static char SenderOf(string message)
    {
        int dash = message.IndexOf('-', StringComparison.Ordinal);
        return dash < 0 ? '-' : message[dash + 1];
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
