namespace Net.Zlink.Services;

/// <summary>Gives what comes from other nodes to the subscribers. Nothing else is done on this loop, so a flood delays nothing but
/// itself.</summary>
internal sealed class DispatchLoop(SubSocket socket, TopicIndex index, PeerSet peers)
{
    private const int BatchSize = 64;

    // Some 2 ms of a flood; then the thread serves what else waits on the thread pool, such as heartbeats.
    private const int BatchesPerTurn = 128;

    private readonly Message[] _batch = new Message[BatchSize];
    private readonly SpotMessage[] _run = new SpotMessage[BatchSize];
    private SubscriberQueue[] _subscribers = [];
    private int _runLength;
    private TopicEntry? _last;
    private long _received;
    private long _unmatched;
    private long _malformed;
    private long _longTopics;
    private long _repeated;
    private PeerStream _stream = new(isIgnored: false);

    public long Received => Volatile.Read(ref _received);

    public long Unmatched => Volatile.Read(ref _unmatched);

    public long Malformed => Volatile.Read(ref _malformed);

    public long LongTopics => Volatile.Read(ref _longTopics);

    public long Repeated => Volatile.Read(ref _repeated);

    /// <summary>Runs until the socket ends or the token is cancelled: a turn that never ends by itself, so that a wait costs no
    /// allocation.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        for (int batches = 0; ;)
        {
            ValueTask<int> receive = socket.ReceiveManyAsync(_batch, cancellationToken);
            batches = receive.IsCompleted ? batches + 1 : 0; // A receive that waits ends the turn by itself.
            Dispatch(_batch.AsSpan(0, await receive.ConfigureAwait(false)));
            if (batches == BatchesPerTurn)
            {
                batches = 0;
                await Task.Yield();
            }
        }
    }

    private void Dispatch(Span<Message> batch)
    {
        foreach (ref Message message in batch)
        {
            object? state = message.UserState;
            PeerStream stream = ReferenceEquals(state, _stream) ? _stream : _stream = state as PeerStream ?? peers.BeginStream(message);
            if (stream.IsIgnored)
            {
                _repeated++;
                message.Dispose();
                continue;
            }

            ReadOnlySpan<byte> topic = message.Span;
            if (message.PartCount < 2 || topic.IsEmpty)
            {
                _malformed++;
                message.Dispose();
                continue;
            }

            if (topic.Length > TopicBytes.MaxLength)
            {
                _longTopics++; // Before anything keeps its bytes.
                message.Dispose();
                continue;
            }

            TopicEntry entry = _last is { } last && last.Version == index.Version && topic.SequenceEqual(last.Bytes) ? last
                : index.Find(topic);
            _last = entry;
            if (entry.Subscribers.Length == 0)
            {
                _unmatched++;
                message.Dispose();
                continue;
            }

            if (stream.HasGap && stream.IsNewTo(entry.Subscribers))
            {
                EndRun();
                LocalDelivery.DeliverFirst(stream, new SpotMessage(message, entry.Text, isLocal: false), entry.Subscribers);
                continue;
            }

            if (!HaveSameSubscribers(_subscribers, entry.Subscribers))
            {
                EndRun();
                _subscribers = entry.Subscribers;
            }

            _run[_runLength++] = new SpotMessage(message, entry.Text, isLocal: false);
        }

        EndRun();
        Volatile.Write(ref _received, _received + batch.Length);
        batch.Clear();
    }

    private static bool HaveSameSubscribers(SubscriberQueue[] one, SubscriberQueue[] other) =>
        ReferenceEquals(one, other) || (one.Length == 1 && other.Length == 1 && ReferenceEquals(one[0], other[0]));

    private void EndRun()
    {
        if (_runLength > 0)
        {
            LocalDelivery.Deliver(_run.AsSpan(0, _runLength), _subscribers);
            Array.Clear(_run, 0, _runLength);
            _runLength = 0;
        }

        _subscribers = [];
    }
}
