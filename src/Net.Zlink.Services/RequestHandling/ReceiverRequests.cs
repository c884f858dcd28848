using System.Text;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Turns what the ROUTER receives into requests: applies cancels, refuses what is not to be executed, and lets the rest
/// pass.</summary>
internal sealed class ReceiverRequests(RouterSocket socket, TimeProvider clock, ILogger logger) : IDisposable
{
    private readonly long _start = clock.GetTimestamp();
    private readonly TimeSpan _startedAt = clock.GetUtcNow() - DateTimeOffset.UnixEpoch;
    private volatile bool _isDraining;
    private volatile bool _isRefusing;
    private long _lastActivity;
    private int _drain;

    // Names that were registered once: their requests are welcome as long as the receiver lives. Others reach it because addresses are used
    // again.
    private volatile byte[][] _served = [];

    public RouterSocket Socket { get; } = socket;

    public ReceiverCounters Counters { get; } = new();

    public OpenRequests Open { get; } = new(clock);

    public TimeProvider Clock => clock;

    public ILogger Logger => logger;

    public EnvelopeFlags Flags => _isDraining ? EnvelopeFlags.Draining : EnvelopeFlags.None;

    public bool IsDraining => _isDraining;

    public bool IsRefusing => _isRefusing;

    /// <summary>Requests that have not ended, and plain messages in handlers.</summary>
    public int Running => Open.Count + (int)Interlocked.Read(ref Counters.PlainInHandlers);

    /// <summary>When something was last accepted or ended, since <see cref="TryBeginDrain"/>: a timestamp.</summary>
    public long LastActivity => Volatile.Read(ref _lastActivity);

    public void AddService(string name)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(name);
        if (!Array.Exists(_served, served => served.AsSpan().SequenceEqual(bytes)))
        {
            _served = [.. _served, bytes];
        }
    }

    /// <summary>From now on replies say so, and activity is noted.</summary>
    /// <returns>False: that was so before.</returns>
    public bool TryBeginDrain()
    {
        if (Interlocked.Exchange(ref _drain, 1) != 0)
        {
            return false;
        }

        Volatile.Write(ref _lastActivity, clock.GetTimestamp());
        _isDraining = true;
        return true;
    }

    public void BeginRefusing() => _isRefusing = true;

    /// <summary>Says that nothing will be executed any more of what has no reply (docs/protocol.md 19). A request on its way here, or
    /// unread, then goes to the next receiver when the connection ends. Only while refusing, and with nothing
    /// <see cref="Running"/>.</summary>
    public void SendEndOfService()
    {
        var end = new RequestEnvelope { Kind = EnvelopeKind.Refused, Flags = Flags, Code = RefusalCode.Draining };
        foreach (PeerInfo peer in Socket.GetPeers())
        {
            if (peer is { IsConnected: true, UserState: GatewayConnection })
            {
                Answers.TrySend(this, peer, end, TextOf(RefusalCode.Draining));
            }
        }
    }

    public void NoteActivity()
    {
        if (_isDraining)
        {
            Volatile.Write(ref _lastActivity, clock.GetTimestamp());
        }
    }

    /// <param name="message">Owned by the request, or disposed.</param>
    /// <param name="loop">Whose handler will have it; null: the application.</param>
    /// <param name="request">What the application gets.</param>
    /// <returns>False: there is nothing to execute in the message.</returns>
    public bool TryAccept(in Message message, ServeLoop? loop, out ServiceRequest request)
    {
        if (!RequestEnvelope.TryRead(message.Span, out RequestEnvelope envelope))
        {
            request = AcceptPlain(message, skippedParts: 0);
            return true;
        }

        switch (envelope.Kind)
        {
            case EnvelopeKind.Request:
                return TryAcceptRequest(message, envelope, loop, out request);
            case EnvelopeKind.Cancel:
                if (Open.Cancel(ConnectionOf(message), envelope.Id))
                {
                    Interlocked.Increment(ref Counters.Cancelled);
                }

                message.Dispose();
                request = default;
                return false;
            default:
                // The other kinds go from receivers to gateways: a gateway that sends one to a receiver means its bytes.
                request = AcceptPlain(message, envelope.Kind == EnvelopeKind.Plain && message.PartCount > 1 ? 1 : 0);
                return true;
        }
    }

    /// <summary>Refuses a request that was accepted and whose handler has not begun.</summary>
    public void Refuse(in ServiceRequest request, ushort code)
    {
        if (request.TryTakeAnswer())
        {
            Refuse(request.Message, request.Id, code);
        }
    }

    public static string TextOf(ushort code) => code switch
    {
        RefusalCode.Draining => "the receiver is draining",
        RefusalCode.NotServed => "the receiver does not serve this service",
        RefusalCode.Expired => "the time of the request was over before it could begin",
        RefusalCode.Stopped => "the receiver has stopped serving",
        _ => "",
    };

    public void Dispose() => Open.Dispose();

    private bool TryAcceptRequest(in Message message, in RequestEnvelope envelope, ServeLoop? loop, out ServiceRequest request)
    {
        Interlocked.Increment(ref Counters.Requests);
        request = default;
        GatewayConnection connection = ConnectionOf(message);
        long now = clock.GetTimestamp();
        long deadline = DeadlineOf(connection, envelope, now);
        ushort refusal = _isRefusing ? RefusalCode.Draining : deadline <= now ? RefusalCode.Expired : Serves(envelope.Service) ? (ushort)0
            : RefusalCode.NotServed;
        if (refusal == 0)
        {
            if (Open.TryAdd(connection, envelope.Id, deadline, loop) is not { } open)
            {
                Interlocked.Increment(ref Counters.DuplicateIds);
                message.Dispose();
                return false;
            }

            // Asked again now that the request counts as running: a drain that saw nothing running executes nothing more.
            if (!_isRefusing)
            {
                NoteActivity();
                request = new ServiceRequest(this, message, open, open.Generation, skippedParts: 1);
                return true;
            }

            Open.Remove(open, open.Generation);
            refusal = RefusalCode.Draining;
        }

        Refuse(message, envelope.Id, refusal);
        message.Dispose();
        return false;
    }

    private ServiceRequest AcceptPlain(in Message message, int skippedParts)
    {
        Interlocked.Increment(ref Counters.PlainMessages);
        NoteActivity();
        return new ServiceRequest(this, message, open: null, generation: 0, skippedParts);
    }

    private void Refuse(in Message message, ulong id, ushort code)
    {
        Interlocked.Increment(ref Counters.Refused);
        if (code == RefusalCode.Expired)
        {
            Interlocked.Increment(ref Counters.Expired);
        }

        try
        {
            var refusal = new RequestEnvelope { Kind = EnvelopeKind.Refused, Flags = Flags, Code = code, Id = id };
            Answers.TrySend(this, message, refusal, TextOf(code));
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The socket has ended, which the gateway sees; the messages behind this one are still to be dealt with.
        }
    }

    private bool Serves(ReadOnlySpan<byte> service)
    {
        byte[][] served = _served;
        bool isServed = service.IsEmpty || served.Length == 0; // Nobody said, or nothing is registered here, as with a StaticDirectory.
        for (int i = 0; i < served.Length && !isServed; i++)
        {
            isServed = service.SequenceEqual(served[i]);
        }

        return isServed;
    }

    private long DeadlineOf(GatewayConnection connection, in RequestEnvelope envelope, long now)
    {
        TimeSpan age = TimeSpan.Zero;
        if (envelope.SentAt is { } sentAt)
        {
            // Not the wall clock, which is set now and then.
            TimeSpan elapsed = clock.GetElapsedTime(_start, now);
            age = connection.AgeOf(elapsed, _startedAt + elapsed - (sentAt - DateTimeOffset.UnixEpoch));
        }

        return envelope.TimeLeft is { } timeLeft ? now + (long)((timeLeft - age).TotalSeconds * clock.TimestampFrequency) : long.MaxValue;
    }

    /// <summary>Kept with the connection, unless the application keeps something of its own there: then each message is taken for a
    /// connection's first.</summary>
    private static GatewayConnection ConnectionOf(in Message message)
    {
        switch (message.UserState)
        {
            case GatewayConnection known:
                return known;
            case null:
                var made = new GatewayConnection();
                message.UserState = made;
                return made;
            default:
                return new GatewayConnection();
        }
    }
}

/// <summary>What a receiver knows of one connection: how old its requests are when they arrive. Kept as the user state of the
/// connection.</summary>
/// <remarks>
/// The clocks of two machines differ by an unknown offset, so the smallest (arrival - sent) of the connection counts as age 0. The offset
/// follows clocks that drift:
/// it grows by <see cref="DriftDivisor"/> while no sample comes near it, and where all samples of a <see cref="Window"/> are above it the
/// smallest of them takes its place.
/// </remarks>
internal sealed class GatewayConnection
{
    private const int DriftDivisor = 5000; // 200 millionths: twice what quartz clocks of two machines differ by.
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private TimeSpan _offset = TimeSpan.MaxValue;
    private TimeSpan _offsetAt;
    private TimeSpan _windowSmallest = TimeSpan.MaxValue;
    private TimeSpan _windowStart;

    /// <summary>How long a request was on its way, beyond what is usual on this connection.</summary>
    /// <param name="now">By the receiver's clock, from its start on.</param>
    /// <param name="delay">Arrival less the time of sending, by two clocks.</param>
    public TimeSpan AgeOf(TimeSpan now, TimeSpan delay)
    {
        lock (_gate)
        {
            if (_windowSmallest != TimeSpan.MaxValue && now - _windowStart >= Window)
            {
                (_offset, _offsetAt) = (_windowSmallest, now);
                (_windowSmallest, _windowStart) = (TimeSpan.MaxValue, now);
            }

            if (_windowSmallest == TimeSpan.MaxValue)
            {
                _windowStart = now;
            }

            _windowSmallest = delay < _windowSmallest ? delay : _windowSmallest;
            TimeSpan usual = _offset == TimeSpan.MaxValue ? delay : _offset + ((now - _offsetAt) / DriftDivisor);
            if (delay <= usual)
            {
                (_offset, _offsetAt) = (delay, now);
                return TimeSpan.Zero;
            }

            return delay - usual;
        }
    }
}

/// <summary>What a receiver has done so far: a snapshot. Messages that the application takes from the raw socket are not among
/// them.</summary>
public sealed record ReceiverStatistics
{
    /// <summary>Requests that expect a reply, those that were refused included.</summary>
    public required long Requests { get; init; }

    /// <summary>Messages without an envelope, which expect no reply.</summary>
    public required long PlainMessages { get; init; }

    /// <summary>Replies to requests.</summary>
    public required long Replies { get; init; }

    /// <summary>Requests that were executed and reported as failed.</summary>
    public required long Failed { get; init; }

    /// <summary>Requests that were refused, thus not executed, for whatever cause.</summary>
    public required long Refused { get; init; }

    /// <summary>Of <see cref="Refused"/>: the time of the request was over before a handler could begin.</summary>
    public required long Expired { get; init; }

    /// <summary>Requests that their gateway cancelled, and that were still waiting or running then.</summary>
    public required long Cancelled { get; init; }

    /// <summary>Handlers that threw.</summary>
    public required long HandlerFaults { get; init; }

    /// <summary>Replies that could not be sent because the gateway was gone or its queue was full.</summary>
    public required long LostReplies { get; init; }

    /// <summary>Requests whose id their connection has in use: they were dropped.</summary>
    public required long DuplicateIds { get; init; }

    /// <summary>Requests that were received and are not disposed yet, and plain messages in handlers.</summary>
    public required int Running { get; init; }
}

/// <summary>What <see cref="ReceiverStatistics"/> shows, counted with Interlocked.</summary>
internal sealed class ReceiverCounters
{
    public long Requests;
    public long PlainMessages;
    public long Replies;
    public long Failed;
    public long Refused;
    public long Expired;
    public long Cancelled;
    public long HandlerFaults;
    public long LostReplies;
    public long DuplicateIds;
    public long PlainInHandlers;

    public ReceiverStatistics ToStatistics(int running) => new()
    {
        Requests = Interlocked.Read(ref Requests),
        PlainMessages = Interlocked.Read(ref PlainMessages),
        Replies = Interlocked.Read(ref Replies),
        Failed = Interlocked.Read(ref Failed),
        Refused = Interlocked.Read(ref Refused),
        Expired = Interlocked.Read(ref Expired),
        Cancelled = Interlocked.Read(ref Cancelled),
        HandlerFaults = Interlocked.Read(ref HandlerFaults),
        LostReplies = Interlocked.Read(ref LostReplies),
        DuplicateIds = Interlocked.Read(ref DuplicateIds),
        Running = running,
    };
}
