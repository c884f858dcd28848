using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Zmp;

/// <summary>A frame that a connection reads, and how its reads go on behind it.</summary>
internal sealed record InboundFrame(ZmpFlags Flags, byte[] Body)
{
    /// <summary>The read ended here.</summary>
    public bool IsLastOfBatch { get; init; }

    /// <summary>Its batch lies in a slab of its own, as a frame that was too long for one read does.</summary>
    public bool HasOwnSlab { get; init; }

    /// <summary>Consumers keep more memory than they should when its batch comes: it is copied.</summary>
    public bool IsPinned { get; init; }

    /// <summary>How many messages the application takes, and ends, behind its batch.</summary>
    public int TakenBehind { get; init; }

    public int Size => ZmpFrame.HeaderSize + Body.Length;

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
            $"{Flags} {Convert.ToHexString(Body.AsSpan(0, Math.Min(4, Body.Length)))}({Body.Length}){(HasOwnSlab ? " own" : "")}"
            + $"{(IsPinned ? " pinned" : "")} take {TakenBehind}{(IsLastOfBatch ? " |" : "")}");
}

/// <summary>Plays frames through <see cref="InboundMessages"/> as a session does, and tells what came of them: messages in order, then
/// subscriptions in order, then whether the connection had to end.</summary>
internal sealed class InboundFixture : IDisposable
{
    public const int MaxParts = 6;
    public const string Refused = "refused";

    // Past the budget of a ReceiveSlab, from which on what is kept is copied.
    private const int MuchMemory = 33 * 1024 * 1024;

    // What one read brings at most; a longer batch gets a slab of its own.
    private const int LongestRead = 16 * 1024;

    private readonly BufferPool _pool = TestPools.Create();
    private readonly EngineHost _host;
    private readonly RecordingCore _core;
    private readonly ReceiveSlab _slabs;
    private readonly List<string> _messages = [];

    public InboundFixture(InboundRole role, bool onlyFirst)
    {
        _host = new EngineHost(1, _pool, TimeProvider.System, NullLogger.Instance, new RecordingObserver());
        _core = new RecordingCore(_host, role) { OnlyFirstSubscribe = onlyFirst };
        _slabs = new ReceiveSlab(_host.Slabs);
    }

    public static string TextOf(IEnumerable<byte[]> parts) => string.Join('|', parts.Select(static part => Convert.ToHexString(part)));

    public IReadOnlyList<string> PlayInOneBatch(InboundFrame[] frames) => Play([frames], isOneSlab: true);

    public IReadOnlyList<string> PlayCut(InboundFrame[] frames)
    {
        List<InboundFrame[]> batches = [];
        List<InboundFrame> batch = [];
        foreach (InboundFrame frame in frames)
        {
            batch.Add(frame);
            if (frame.IsLastOfBatch)
            {
                batches.Add([.. batch]);
                batch.Clear();
            }
        }

        batches.Add([.. batch]);
        return Play(batches.Where(static b => b.Length > 0), isOneSlab: false);
    }

    public void Dispose()
    {
        _slabs.Release();
        _host.Dispose();
        Assert.Equal(0, _pool.GetStatistics().Live);
        _pool.Dispose();
    }

    private List<string> Play(IEnumerable<InboundFrame[]> batches, bool isOneSlab)
    {
        var link = new WireLink(_core, new PairOptions().Snapshot(ZmpSocketType.Pair, alias: null))
        {
            Endpoint = "test",
            IsActive = false,
            IsAttached = true
        };
        var messages = new InboundMessages(_core, link, MaxParts);
        _core.Reading = link;
        _messages.Clear();
        _core.Told.Clear();
        _core.IsBetweenMessages = true;
        bool isRefused = false;
        foreach (InboundFrame[] batch in batches)
        {
            isRefused = !Read(messages, batch, isOneSlab);
            if (isRefused)
            {
                break;
            }

            Take(isOneSlab ? 0 : batch[^1].TakenBehind);
        }

        messages.Abandon();
        Take(int.MaxValue);
        _core.Receive.Drop(link.Lane);
        link.Queue.Abandon();
        Assert.InRange(_pool.GetStatistics().Live, 0, 1); // The slab that the next read goes into.
        return [.. _messages, .. _core.Told, .. isRefused ? (string[])[Refused] : []];
    }

    /// <summary>One read. False if the connection has to end for what it brought.</summary>
    private bool Read(InboundMessages messages, InboundFrame[] frames, bool isOneSlab)
    {
        int total = frames.Sum(static frame => frame.Size);
        bool owns = isOneSlab || total > LongestRead || frames[0].HasOwnSlab;
        bool isPinned = !isOneSlab && frames[0].IsPinned;
        int offset = 0;
        Slab slab = owns ? _slabs.RentOwn(total) : _slabs.Acquire(0, out offset, out _);
        int position = offset;
        foreach (InboundFrame frame in frames)
        {
            ZmpFrame.WriteHeader(slab.Array.AsSpan(position), frame.Flags, (uint)frame.Body.Length);
            frame.Body.CopyTo(slab.Array, position + ZmpFrame.HeaderSize);
            position += frame.Size;
        }

        if (isPinned)
        {
            _host.Slabs.Account(MuchMemory);
        }

        bool isGood = Deliver(messages, new InboundBytes(slab, offset, total, owns), frames);
        if (isPinned)
        {
            _host.Slabs.Account(-MuchMemory);
        }

        if (owns)
        {
            slab.Release();
        }

        return isGood;
    }

    private bool Deliver(InboundMessages messages, in InboundBytes bytes, InboundFrame[] frames)
    {
        messages.Begin(bytes, _slabs);
        int position = bytes.Offset;
        bool isGood = true;
        foreach (InboundFrame frame in frames)
        {
            position += ZmpFrame.HeaderSize;
            isGood = frame.Flags switch
            {
                ZmpFlags.None => messages.AddPart(position, frame.Body.Length, more: false),
                ZmpFlags.More => messages.AddPart(position, frame.Body.Length, more: true),
                ZmpFlags.Subscribe or ZmpFlags.Cancel => messages.AddSubscription(
                    position, frame.Body.Length, frame.Flags == ZmpFlags.Subscribe),
                _ => true, // Control and identity frames never come this far.
            };
            if (!isGood)
            {
                break;
            }

            position += frame.Body.Length;
            _core.IsBetweenMessages = frame.Flags switch
            {
                ZmpFlags.None => true,
                ZmpFlags.More => false,
                _ => _core.IsBetweenMessages,
            };
        }

        messages.End(position);
        return isGood;
    }

    private void Take(int count)
    {
        for (int i = 0; i < count && _core.Receive.TryDequeue(out DequeuedMessage dequeued); i++)
        {
            int generation = dequeued.Lease.GenerationOf(dequeued.Slot);
            _messages.Add(TextOf(Enumerable.Range(0, dequeued.Lease.PartsOf(dequeued.Slot))
                .Select(part => dequeued.Lease.Part(dequeued.Slot, part, generation).ToArray())));
            dequeued.Lease.Release(dequeued.Slot, generation);
        }
    }
}

/// <summary>A socket's inside with a role of the test's choice, which notes what it is told of subscriptions.</summary>
internal sealed class RecordingCore(EngineHost host, InboundRole role)
    : SocketCore(host, ZmpSocketType.Pair)
{
    /// <summary>A prefix that begins with this is more than the peer may subscribe to.</summary>
    public const byte OneTooMany = 0xEE;

    public List<string> Told { get; } = [];

    /// <summary>The pipe that is read.</summary>
    public WireLink? Reading { get; set; }

    /// <summary>The data frame that came last, if any, ended a message.</summary>
    public bool IsBetweenMessages { get; set; } = true;

    public override InboundRole InboundRole => role;

    public override bool CanSend => true;

    public override bool Accepts(ReadOnlySpan<byte> firstPart) => firstPart is not [(byte)'b', ..];

    public override SubscriptionOutcome OnSubscription(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, bool tells = true)
    {
        // Between two messages a notice comes behind all that was sent before it.
        string behind = IsBetweenMessages ? string.Create(
            CultureInfo.InvariantCulture, $" behind {Reading!.Lane.Counts.AcceptedMessages - Reading.Lane.Counts.FilteredMessages}") : "";
        Told.Add($"{(subscribes ? "+" : "-")}{Convert.ToHexString(prefix)}{(tells ? " told" : "")}{behind}");
        return prefix is [OneTooMany, ..] ? SubscriptionOutcome.TooMany : prefix.Length % 2 == 1 ? SubscriptionOutcome.Notify
            : SubscriptionOutcome.Silent;
    }

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message) => SendStatus.Full;

    protected override bool Attach(PeerLink link) => true;

    protected override void Remove(PeerLink link)
    {
    }
}
