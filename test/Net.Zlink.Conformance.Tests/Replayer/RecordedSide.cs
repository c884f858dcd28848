using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>
/// An implementation that knows the transcript by heart, whatever its protocol: it does what its side did in the recording as soon as the
/// other side has done what went before.
/// Played against its own file it shows that the replayer can play that file to its end, before there is an implementation of that socket
/// type.
/// </summary>
internal sealed class RecordedSide : IImplementedSide
{
    private const int ReconnectMs = 100;
    private readonly Channel<ReceivedMessage> _messages = Channel.CreateUnbounded<ReceivedMessage>();
    private readonly Channel<ReceivedEvent> _events = Channel.CreateUnbounded<ReceivedEvent>();
    private readonly SortedDictionary<int, RecordedConnection> _connections = [];
    private readonly Lock _gate = new();
    private readonly Transcript _transcript;
    private readonly string _name;
    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly ITimer _timer;
    private readonly int[] _numbers;
    private readonly bool _isHurried;
    private readonly Func<WireRecord, byte[], byte[]> _change;
    private Socket? _listener;
    private IPEndPoint? _target;
    private long? _lostAt;
    private int _calls;
    private int _sends;
    private int _delivered;
    private int _reported;
    private bool _connecting;
    private bool _disposed;

    /// <param name="transcript">What it knows.</param>
    /// <param name="name">The side that it is.</param>
    /// <param name="request">As for any side.</param>
    /// <param name="isHurried">A fault: the times between its records are not kept.</param>
    /// <param name="change">What becomes of its bytes on their way out; null for nothing.</param>
    public RecordedSide(Transcript transcript, string name, SideRequest request, bool isHurried = false, Func<WireRecord, byte[],
        byte[]>? change = null)
    {
        (_transcript, _name, _time, _isHurried, _change) =
            (transcript, name, request.Time, isHurried, change ?? (static (_, bytes) => bytes));
        _start = _time.GetTimestamp();
        _numbers = [.. transcript.Actions.Where(action => action.Kind is ActionKind.Connect or ActionKind.Accept
            && IsOurs(action.Connection)).Select(action => action.Connection).Distinct()];
        TimeSpan tick = TimeSpan.FromMilliseconds(5);
        _timer = _time.CreateTimer(_ => Play(), null, tick, tick);
    }

    private long Elapsed => (long)_time.GetElapsedTime(_start).TotalMilliseconds;

    public void OpenMonitor() => Called();

    public string Bind(string endpoint)
    {
        _listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _ = AcceptAsync(_listener);
        Called();
        return $"{_transcript.Transport}://{_listener.LocalEndPoint}";
    }

    public void Connect(string endpoint)
    {
        var target = new Uri(endpoint);
        _target = new IPEndPoint(IPAddress.Parse(target.Host), target.Port);
        _ = ConnectAsync();
        Called();
    }

    public void Set(SideOption option) => Called();

    public void Subscribe(byte[] topic) => Called();

    public void Unsubscribe(byte[] topic) => Called();

    public string? Send(IReadOnlyList<byte[]> parts)
    {
        SentMessage sent = _transcript.Sent.Where(message => IsHere(message.At)).ElementAt(_sends++);
        Called();
        return sent.Error;
    }

    public void Close() => Called();

    public bool TryReceive(out ReceivedMessage message) => _messages.Reader.TryRead(out message!);

    public ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation) => _messages.Reader.ReadAsync(cancellation);

    public bool TryReadEvent(out ReceivedEvent received) => _events.Reader.TryRead(out received!);

    public ValueTask<ReceivedEvent> ReadEventAsync(CancellationToken cancellation) => _events.Reader.ReadAsync(cancellation);

    public Task WhenIdleAsync()
    {
        Play();
        return Task.CompletedTask;
    }

    public IReadOnlyList<string> GetOutstandingBuffers() => [];

    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _disposed = true;
            _timer.Dispose();
            _listener?.Dispose();
            foreach (RecordedConnection connection in _connections.Values)
            {
                connection.Dispose();
            }
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>Does all whose turn has come.</summary>
    public void Play()
    {
        lock (_gate)
        {
            if (_disposed)
            {
                return;
            }

            foreach (RecordedConnection connection in _connections.Values)
            {
                connection.Play(HasReached, Elapsed);
            }

            foreach (DeliveredMessage message in _transcript.Delivered.Where(message => IsHere(message.At)).Skip(_delivered)
                .TakeWhile(message => IsOver(message.Step)))
            {
                _delivered++;
                _messages.Writer.TryWrite(new ReceivedMessage(message.Parts, message.Properties));
            }

            foreach (MonitorEvent expected in (_transcript.Events ?? []).Where(expected => IsHere(expected.At)).Skip(_reported)
                .TakeWhile(expected => IsOver(expected.Step)))
            {
                _reported++;
                _events.Writer.TryWrite(new ReceivedEvent(expected.Name, expected.Value, expected.RoutingId, "all"));
            }

            ComeBack();
        }
    }

    /// <summary>Its application has done what it does up to this step, and the time of the steps before is over; in a step of which only
    /// time is the cause, some of its own too.</summary>
    private bool HasReached(int step, bool caused)
    {
        int calls = _transcript.Actions.Count(action => action.Step <= step && IsCall(action))
            + _transcript.Sent.Count(message => message.Step <= step && IsHere(message.At));
        int time = _transcript.Actions.Where(action => action.Step < step).Sum(action => action.Milliseconds);
        bool called = _transcript.Sent.Any(message => message.Step == step && IsHere(message.At))
            || _transcript.Actions.Any(action => action.Step == step && action.Kind is not ActionKind.Idle);
        bool byTime = !caused && !called && _transcript.Actions.Any(action => action.Step == step && action.Kind is ActionKind.Idle);
        return _calls >= calls && (byTime ? Elapsed > time : Elapsed >= time);
    }

    private bool IsCall(TranscriptAction action) => IsHere(action.At) && action.Kind is not ActionKind.Accept;

    /// <summary>All that the others do up to this step has been seen too.</summary>
    private bool IsOver(int step)
    {
        bool connected = _transcript.Actions.Where(action => action.Step <= step && action.Kind is ActionKind.Connect or ActionKind.Accept)
            .All(action => !IsOurs(action.Connection) || _connections.ContainsKey(action.Connection));
        return connected && HasReached(step, caused: true) && _connections.Values.All(connection => connection.HasSeen(step));
    }

    private void ComeBack()
    {
        if (_target is null || _connecting || _connections.Count == 0 || _connections.Count == _numbers.Length
            || !_connections.Values.Last().IsLost)
        {
            return;
        }

        _lostAt ??= Elapsed;
        if (Elapsed >= _lostAt + ReconnectMs)
        {
            _lostAt = null;
            _connecting = true;
            _ = ConnectAsync();
        }
    }

    private bool IsHere(string at) => string.Equals(at, _name, StringComparison.Ordinal);

    private bool IsOurs(int connection) => _name is "b" || IsHere(_transcript.ConnectorOf(connection));

    private void Called()
    {
        lock (_gate)
        {
            _calls++;
        }

        Play();
    }

    private async Task AcceptAsync(Socket listener)
    {
        try
        {
            while (true)
            {
                Add(await listener.AcceptAsync());
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Closed.
        }
    }

    private async Task ConnectAsync()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(_target!);
        Add(socket);
    }

    private void Add(Socket socket)
    {
        lock (_gate)
        {
            int number = _numbers[_connections.Count];
            WireRecord[] records = [.. _transcript.Records.Where(record => record.Connection == number)];
            var connection = new RecordedConnection(socket, records, _name, _transcript.HandshakeSteps, !_transcript.HasRawSide,
                _isHurried, _change);
            _connections.Add(number, connection);
            if (_transcript.Actions.Any(action => action.Unrecorded && action.Connection == number))
            {
                socket.Send([0]); // Its first word, which nobody wrote down.
            }

            _connecting = false;
            _ = connection.WatchAsync(this);
        }

        Play();
    }
}
