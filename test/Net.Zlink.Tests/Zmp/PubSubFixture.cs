using System.Diagnostics;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What can be done to a publisher and a subscriber.</summary>
public enum PubSubStep
{
    Publish,
    Subscribe,
    Unsubscribe,
    Receive,
    ReceiveCancelled,

    /// <summary>A message from an XSUB to the publisher.</summary>
    SendUpstream,

    /// <summary>Waits until what is on its way has arrived.</summary>
    Settle,
    Bind,
    Unbind,
    Connect,
    Disconnect,
    CloseSubscriber,
    ClosePublisher,
}

/// <summary>A publisher that binds and a subscriber that connects, and what is known of them.</summary>
internal sealed class PubSubFixture : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(8);

    // What messages are about, in two bytes, and what is subscribed to: everything, and prefixes of one another.
    private static readonly string[] Subjects = ["ax", "ab", "bx", "cx"];
    private static readonly string[] Topics = ["", "a", "ab", "b"];

    private readonly ContextFixture _fixture = new(shutdownTimeout: TimeSpan.FromSeconds(1));
    private readonly bool _isExtendedPublisher;
    private readonly bool _isExtendedSubscriber;
    private readonly bool _isInproc;
    private readonly int _mark;
    private readonly string _endpoint;
    private readonly MessageBuilder _builder = new();
    private readonly List<ZmpSocket> _publishers = [];
    private readonly List<ReceivingSocket> _subscribers = [];
    private readonly List<string> _held = [];
    private readonly HashSet<string> _heldLately = [];
    private readonly HashSet<string> _told = [];

    // The messages of the publisher that is open: what is to become of each. Those of one that was closed may still come, in order.
    private readonly SortedDictionary<(int Sender, int Number), Fate> _published = [];
    private readonly SortedDictionary<(int Sender, int Number), Fate> _upstream = [];
    private readonly Dictionary<(int Sender, int Number), string> _subjects = [];
    private readonly Dictionary<int, int> _lastReceived = [];
    private readonly Dictionary<int, int> _lastUpstream = [];
    private int _next;
    private int _nextUpstream;
    private int _received;
    private bool _isBound;
    private bool _isConnected;
    private bool _isAtRest;
    private bool _areJoined;

    public PubSubFixture(string types, string transport, int mark)
    {
        _isExtendedPublisher = types.StartsWith("XPUB", StringComparison.Ordinal);
        _isExtendedSubscriber = types.EndsWith("XSUB", StringComparison.Ordinal);
        _isInproc = string.Equals(transport, "inproc", StringComparison.Ordinal);
        _mark = mark;
        _endpoint = ModelEndpoint.Of(transport);
        OpenPublisher();
        OpenSubscriber();
    }

    /// <summary>What is to become of a message.</summary>
    private enum Fate
    {
        MayCome,
        MustCome,

        /// <summary>It is in the subscriber's queue.</summary>
        IsThere,
        HasCome,
    }

    private ZmpSocket Publisher => _publishers[^1];

    private ReceivingSocket Subscriber => _subscribers[^1];

    public async Task DoAsync(PubSubStep step, int number)
    {
        switch (step)
        {
            case PubSubStep.Publish:
                Publish(Subjects[number]);
                break;
            case PubSubStep.Subscribe:
                Change(Topics[number], subscribes: true);
                break;
            case PubSubStep.Unsubscribe when _held.Contains(Topics[number]):
                Change(Topics[number], subscribes: false);
                break;
            case PubSubStep.Receive:
                await ReceiveAsync();
                break;
            case PubSubStep.ReceiveCancelled:
                await ReceiveCancelledAsync().WaitAsync(Patience);
                break;
            case PubSubStep.SendUpstream when _isExtendedSubscriber:
                SendUpstream();
                break;
            case PubSubStep.Bind when !_isBound:
                Publisher.Bind(_endpoint);
                _isBound = true;
                Disturb();
                break;
            case PubSubStep.Unbind when _isBound:
                Publisher.Unbind(_endpoint);
                _isBound = false;
                Disturb();
                break;
            case PubSubStep.Connect when !_isConnected:
                Subscriber.Connect(_endpoint);
                _isConnected = true;
                Disturb();
                break;
            case PubSubStep.Disconnect when _isConnected:
                Subscriber.Disconnect(_endpoint);
                _isConnected = false;
                Disturb(isUnreadLost: true);
                break;
            case PubSubStep.CloseSubscriber:
                Subscriber.Dispose();
                OpenSubscriber();
                _isConnected = false;
                _held.Clear();
                Disturb(isUnreadLost: true);
                break;
            case PubSubStep.ClosePublisher:
                Publisher.Dispose();
                OpenPublisher();
                _isBound = false;
                _told.Clear();
                Disturb();
                break;
            case PubSubStep.Settle:
                await SettleAsync();
                break;
            default:
                break; // nothing to be done
        }

        if (_isInproc)
        {
            _isConnected = Subscriber.PeerCount > 0;
        }
    }

    public async Task EndAsync()
    {
        await SettleAsync();
        while (await ReceiveAsync())
        {
            // and the next
        }

        SocketStatistics[] there = [.. _subscribers.Select(static s => s.GetStatistics())];
        SocketStatistics[] here = [.. _publishers.Select(static s => s.GetStatistics())];
        Assert.Equal(_received, there.Sum(static s => s.DeliveredMessages));
        Assert.All(there.Concat(here), static s =>
            Assert.Equal(s.ReceivedMessages, s.DeliveredMessages + s.DroppedUnreadMessages + s.FilteredMessages + s.UnreadMessages));
        Assert.All(there.Concat(here), static s =>
            Assert.Equal(s.AcceptedMessages, s.WrittenMessages + s.DroppedMessages + s.QueuedMessages));

        // Each message went to the subscriber, found it full, or found nobody. While an old connection of the same subscriber was not given
        // up yet, there were two of it.
        Assert.InRange(here.Sum(static s => s.AcceptedMessages + s.DroppedAtHighWaterMark + s.UnmatchedMessages), _next, long.MaxValue);
    }

    public async ValueTask DisposeAsync()
    {
        _builder.Dispose();
        await _fixture.DisposeAsync();
    }

    private void OpenPublisher() => _publishers.Add(_isExtendedPublisher
        ? _fixture.Context.CreateXPub(new XPubOptions { SendHighWaterMark = _mark == 0 ? null : _mark, Linger = TimeSpan.Zero })
        : _fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = _mark == 0 ? null : _mark, Linger = TimeSpan.Zero }));

    private void OpenSubscriber() => _subscribers.Add(_isExtendedSubscriber
        ? _fixture.Context.CreateXSub(new XSubOptions
        {
            ReceiveHighWaterMark = _mark == 0 ? null : _mark,
            ReconnectInterval = TimeSpan.FromMilliseconds(1)
        })
        : _fixture.Context.CreateSub(new SubOptions
        {
            ReceiveHighWaterMark = _mark == 0 ? null : _mark,
            ReconnectInterval = TimeSpan.FromMilliseconds(1)
        }));

    /// <summary>From here on it is not known what comes, until they are at rest again.</summary>
    private void Disturb(bool isUnreadLost = false)
    {
        _isAtRest = false;
        foreach (SortedDictionary<(int, int), Fate> messages in (SortedDictionary<(int, int), Fate>[])[_published, _upstream])
        {
            foreach (((int, int) key, Fate fate) in messages.ToArray())
            {
                if (fate == Fate.MustCome || (fate == Fate.IsThere && isUnreadLost && ReferenceEquals(messages, _published)))
                {
                    messages[key] = Fate.MayCome;
                }
            }
        }
    }

    private async Task SettleAsync()
    {
        if (_isInproc)
        {
            _areJoined = Subscriber.GetPeers().Any(static p => p.IsConnected);
        }
        else
        {
            _areJoined = _isBound && _isConnected;
            await Guard.UntilAsync(
                () =>
                {
                    while (_mark > 0 && TryReceive())
                    {
                        // A reader at its mark does not hear that the other end is gone.
                    }

                    return IsConnected(Publisher) == _areJoined && IsConnected(Subscriber) == _areJoined;
                },
                _areJoined ? "they connect" : "they part",
                Patience);
        }

        int topics = _areJoined ? _held.Distinct(StringComparer.Ordinal).Count() : 0;
        await Guard.UntilAsync(() => TopicsOf(Publisher) == topics, "the publisher has the subscriber's topics", Patience);
        await _fixture.SettleAsync();
        foreach (SortedDictionary<(int, int), Fate> messages in (SortedDictionary<(int, int), Fate>[])[_published, _upstream])
        {
            foreach (((int, int) key, Fate fate) in messages.ToArray())
            {
                messages[key] = fate == Fate.MustCome ? Fate.IsThere : fate;
            }
        }

        // As in ReceiveAsync, a message may be held up.
        long start = Stopwatch.GetTimestamp();
        do
        {
            TakeUpstream();
        }
        while (!HasAllUpstream() && await IsPatientAsync(start));

        if (Publisher is XPubSocket)
        {
            Assert.DoesNotContain(Fate.IsThere, _upstream.Values);
            Assert.Equal(TopicsToTell().Order(StringComparer.Ordinal), _told.Order(StringComparer.Ordinal));
        }

        _isAtRest = true;
        _heldLately.Clear();
        _heldLately.UnionWith(_held);
    }

    private static bool IsConnected(ZmpSocket socket) => socket.GetPeers().Any(static p => p.IsConnected);

    private static int TopicsOf(ZmpSocket publisher) => (publisher as PubSocket)?.TopicCount ?? ((XPubSocket)publisher).TopicCount;

    private void Publish(string subject)
    {
        (int, int) message = (_publishers.Count, _next++);
        Numbered.Build(_builder, message.Item1, message.Item2, Encoding.ASCII.GetBytes(subject));
        Assert.True(Publisher is PubSocket pub ? pub.TrySend(_builder) : ((XPubSocket)Publisher).TrySend(_builder));
        bool isWanted = Matches(_held, subject);
        if (!_isAtRest ? isWanted || Matches(_heldLately, subject) : isWanted && _areJoined)
        {
            _subjects[message] = subject;
            _published[message] = _isAtRest && _mark == 0 ? Fate.MustCome : Fate.MayCome;
        }
    }

    private static bool Matches(IEnumerable<string> topics, string subject) =>
        topics.Any(t => subject.StartsWith(t, StringComparison.Ordinal));

    private void Change(string topic, bool subscribes)
    {
        byte[] bytes = Encoding.ASCII.GetBytes(topic);
        if (Subscriber is SubSocket sub)
        {
            if (subscribes)
            {
                sub.Subscribe(bytes);
            }
            else
            {
                sub.Unsubscribe(bytes);
            }
        }
        else
        {
            ((XSubSocket)Subscriber).Send([(byte)(subscribes ? 1 : 0), .. bytes]);
        }

        if (subscribes)
        {
            _held.Add(topic);
            _heldLately.Add(topic);
            _isAtRest = false; // What matched before goes on to match.
        }
        else
        {
            _held.Remove(topic);
            Disturb();
            if (!_isExtendedSubscriber)
            {
                // It comes only if its topic is asked for again before it is read.
                foreach ((int, int) message in _published.Where(
                    entry => entry.Value == Fate.IsThere && !Matches(_held, _subjects[entry.Key])).Select(static entry => entry.Key)
                    .ToArray())
                {
                    _published[message] = Fate.MayCome;
                }
            }
        }
    }

    private bool TryReceive()
    {
        bool isReceived = Subscriber.TryReceive(out Message message);
        if (isReceived)
        {
            Take(message);
        }

        return isReceived;
    }

    /// <summary>False: there is none, and none was to be there.</summary>
    private async Task<bool> ReceiveAsync()
    {
        // A thread of the pool that has just been told of input may be held up on its way to the shard: settled, as far as can be seen, and
        // yet not there.
        long start = Stopwatch.GetTimestamp();
        while (!TryReceive())
        {
            if (!_published.ContainsValue(Fate.IsThere))
            {
                return false;
            }

            Assert.True(await IsPatientAsync(start),
                $"{_published.Values.Count(static fate => fate == Fate.IsThere)} messages that were to be there are not");
        }

        return true;
    }

    private async Task ReceiveCancelledAsync()
    {
        using var source = new CancellationTokenSource();
        try
        {
            ValueTask<Message> receiving = Subscriber.ReceiveAsync(source.Token);
            source.Cancel();
            Take(await receiving);
        }
        catch (OperationCanceledException) when (source.IsCancellationRequested)
        {
            await ReceiveAsync(); // What was to be there was held up.
        }
    }

    private void Take(in Message message)
    {
        using (message)
        {
            _received++;
            (int, int) number = Numbered.Check(message, topicLength: 2);
            Assert.True(_isExtendedSubscriber || Matches(_held, Encoding.ASCII.GetString(message.Span[..2])),
                $"message {number} is of a topic that was cancelled");
            AssertComes(_published, number, _lastReceived);
        }
    }

    private void SendUpstream()
    {
        // Every part upstream that begins with 0 or 1 is news of a topic (docs/protocol.md section 12), and a part begins with its sender:
        // so the first is 2.
        (int, int) message = (_subscribers.Count + 1, _nextUpstream++);
        Numbered.Build(_builder, message.Item1, message.Item2, "u"u8);
        Assert.True(((XSubSocket)Subscriber).TrySend(_builder));
        _upstream[message] = _isAtRest && _areJoined && _mark == 0 ? Fate.MustCome : Fate.MayCome;
    }

    /// <summary>What an XPUB's application gets: notices, and an XSUB's messages.</summary>
    private void TakeUpstream()
    {
        if (Publisher is not XPubSocket xpub)
        {
            return;
        }

        while (xpub.TryReceive(out Message message))
        {
            using (message)
            {
                if (message.Span is [0 or 1, ..])
                {
                    string topic = Encoding.ASCII.GetString(message.Span[1..]);

                    // A cancel may be of a topic that this publisher never heard of: an XSUB's goes out on the next connection, which is
                    // not told what is cancelled already.
                    Assert.True(message.Span[0] == 1 ? _told.Add(topic) : _told.Remove(topic) || !_isInproc,
                        $"the news of '{topic}' is none");
                    continue;
                }

                AssertComes(_upstream, Numbered.Check(message, topicLength: 1), _lastUpstream);
            }
        }
    }

    private bool HasAllUpstream() => Publisher is not XPubSocket
        || (!_upstream.ContainsValue(Fate.IsThere) && _told.SetEquals(TopicsToTell()));

    private IEnumerable<string> TopicsToTell() => (_areJoined ? _held : []).Distinct(StringComparer.Ordinal);

    private static async Task<bool> IsPatientAsync(long start)
    {
        await Task.Yield();
        return Stopwatch.GetElapsedTime(start) < Patience;
    }

    private static void AssertComes(SortedDictionary<(int Sender, int Number), Fate> messages, (int Sender, int Number) message,
        Dictionary<int, int> last)
    {
        Assert.True(messages.TryGetValue(message, out Fate fate), $"message {message} must not come");
        Assert.True(fate != Fate.HasCome, $"message {message} came before");
        Assert.True(message.Number > last.GetValueOrDefault(message.Sender, -1),
            $"message {message} came behind {last.GetValueOrDefault(message.Sender)}");
        foreach (((int Sender, int Number) earlier, Fate missed) in messages)
        {
            if (earlier.CompareTo(message) >= 0)
            {
                break;
            }

            // What a publisher that was closed has left comes beside what the next one sends.
            Assert.True(earlier.Sender != message.Sender || missed is not (Fate.IsThere or Fate.MustCome),
                $"message {earlier} is missing before {message}");
        }

        messages[message] = Fate.HasCome;
        last[message.Sender] = message.Number;
    }
}
