using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Turns messages of the ROUTER into requests: applies cancels, refuses requests that must not be executed, and passes the rest
/// on.</summary>
internal sealed class ReceiverRequests(RouterSocket socket, TimeProvider clock, ILogger logger) : IDisposable
{
    private readonly long _start = clock.GetTimestamp();
    private readonly TimeSpan _startedAt = clock.GetUtcNow() - DateTimeOffset.UnixEpoch;
    private volatile bool _isDraining;
    private volatile bool _isRefusing;
    private long _lastActivity;
    private int _drain;

    // Names that were registered once: their requests are accepted as long as the receiver lives. Others arrive because addresses are used
    // again.
    private volatile byte[][] _served = [];
    private readonly ConcurrentDictionary<Type, bool> _faultyTypes = new();

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

    /// <summary>The timestamp of the last request that was accepted or ended, since <see cref="TryBeginDrain"/>.</summary>
    public long LastActivity => Volatile.Read(ref _lastActivity);

    /// <summary>In UTF-8, in the order in which they were registered.</summary>
    public byte[][] Served => _served;

    public void AddService(string name)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(name);
        if (!Array.Exists(_served, served => served.AsSpan().SequenceEqual(bytes)))
        {
            _served = [.. _served, bytes];
        }
    }

    /// <summary>From now on replies announce the drain, and activity is recorded.</summary>
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

    /// <summary>Announces that no request without a reply will be executed any more (docs/protocol.md 19). A request on its way here, or
    /// unread, then goes to the next receiver when the connection ends. Only while refusing, and with nothing
    /// <see cref="Running"/>; not to a gateway that may wait for what was executed.</summary>
    public void SendEndOfService()
    {
        var end = new RequestEnvelope { Kind = EnvelopeKind.Refused, Flags = Flags, Code = RefusalCode.Draining };
        long now = clock.GetTimestamp();
        foreach (PeerInfo peer in Socket.GetPeers())
        {
            if (peer is { IsConnected: true, UserState: GatewayConnection connection } && !connection.MayWaitForExecuted(now))
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
    /// <param name="loop">The loop whose handler gets it; null: the application.</param>
    /// <param name="request">The request for the application.</param>
    /// <returns>False: the message contains nothing to execute.</returns>
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
                if (Open.Abandon(ConnectionOf(message), envelope.Id))
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

    /// <summary>A request ends without an answer, and this is the only one that may still be given: its holder may have executed it, so its
    /// gateway must not send it elsewhere.</summary>
    public void FailUnanswered(in ServiceRequest request, OpenRequest open)
    {
        if (open.IsAbandoned)
        {
            return;
        }

        bool isSent = false;
        if (!request.IsExpired) // Else the gateway says so itself, at this moment.
        {
            try
            {
                var failure = new RequestEnvelope { Kind = EnvelopeKind.Failed, Flags = Flags, Code = FailureCode.NoReply, Id = open.Id };
                isSent = Answers.TrySend(this, request.Message, failure, "the request ended without a reply");
            }
            catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
            {
                // The socket has ended, which the gateway sees.
            }
        }

        if (isSent)
        {
            Interlocked.Increment(ref Counters.Failed);
        }
        else
        {
            open.Connection.NoteUnanswered(open.Deadline, clock);
        }
    }

    /// <summary>The serializer does not know a type, whatever the peer sends: logged once for each type, counted each
    /// time.</summary>
    public void NoteSerializerFault(Type type, Exception fault)
    {
        Interlocked.Increment(ref Counters.HandlerFaults);
        if (_faultyTypes.TryAdd(type, true))
        {
            ServicesLog.SerializerFailed(logger, fault, type.Name);
        }
    }

    /// <summary>Refuses a request that was accepted and whose handler has not begun.</summary>
    public void Refuse(in ServiceRequest request, ushort code)
    {
        if (request.TryTakeAnswer())
        {
            Refuse(request.Message, request.Id, code, TextOf(code));
        }
    }

    public static string TextOf(ushort code) => code switch
    {
        RefusalCode.Draining => "the receiver is draining",
        RefusalCode.NotServed => "the receiver does not serve this service",
        RefusalCode.Expired => "the request timed out before it began",
        RefusalCode.Stopped => "the receiver has stopped serving",
        RefusalCode.NoSerializer => "the receiver cannot read requests of this type",
        _ => "",
    };

    public void Dispose() => Open.Dispose();

    private bool TryAcceptRequest(in Message message, in RequestEnvelope envelope, ServeLoop? loop, out ServiceRequest request)
    {
        Interlocked.Increment(ref Counters.Requests);
        request = default;
        GatewayConnection connection = ConnectionOf(message);
        long now = clock.GetTimestamp();
        long deadline = DeadlineOf(connection, envelope, now, out TimeSpan clocksDifferBy);
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

            // Checked again now that the request counts as running: a drain that saw nothing running executes nothing more.
            if (!_isRefusing)
            {
                NoteActivity();
                request = new ServiceRequest(this, message, open, open.Generation, skippedParts: 1);
                return true;
            }

            Open.Remove(open, open.Generation);
            refusal = RefusalCode.Draining;
        }

        Refuse(message, envelope.Id, refusal, refusal == RefusalCode.Expired && clocksDifferBy > TimeSpan.Zero
            ? string.Create(CultureInfo.InvariantCulture, $"by the clocks the request took {clocksDifferBy.TotalSeconds:0.0} s to arrive, "
                + $"although nothing waits at the receiver: a clock was set, or a machine was suspended")
            : TextOf(refusal));
        message.Dispose();
        return false;
    }

    private ServiceRequest AcceptPlain(in Message message, int skippedParts)
    {
        Interlocked.Increment(ref Counters.PlainMessages);
        NoteActivity();
        return new ServiceRequest(this, message, open: null, generation: 0, skippedParts);
    }

    private void Refuse(in Message message, ulong id, ushort code, string text)
    {
        Interlocked.Increment(ref Counters.Refused);
        if (code == RefusalCode.Expired)
        {
            Interlocked.Increment(ref Counters.Expired);
        }

        try
        {
            var refusal = new RequestEnvelope { Kind = EnvelopeKind.Refused, Flags = Flags, Code = code, Id = id };
            Answers.TrySend(this, message, refusal, text);
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The socket has ended, which the gateway notices; later messages must still be processed.
        }
    }

    private bool Serves(ReadOnlySpan<byte> service)
    {
        byte[][] served = _served;
        // No service was named, or nothing is registered here, as with a StaticDirectory.
        bool isServed = service.IsEmpty || served.Length == 0;
        for (int i = 0; i < served.Length && !isServed; i++)
        {
            isServed = service.SequenceEqual(served[i]);
        }

        return isServed;
    }

    /// <param name="connection">The gateway's connection.</param>
    /// <param name="envelope">The envelope of the request.</param>
    /// <param name="now">A timestamp.</param>
    /// <param name="clocksDifferBy">If above zero: the apparent age of the request, which cannot have waited here.</param>
    private long DeadlineOf(GatewayConnection connection, in RequestEnvelope envelope, long now, out TimeSpan clocksDifferBy)
    {
        TimeSpan age = TimeSpan.Zero;
        clocksDifferBy = TimeSpan.Zero;
        if (envelope.SentAt is { } sentAt)
        {
            // Not the wall clock, which may be set.
            TimeSpan elapsed = clock.GetElapsedTime(_start, now);
            TimeSpan delay = _startedAt + elapsed - (sentAt - DateTimeOffset.UnixEpoch);
            age = connection.AgeOf(elapsed, delay);
            if (age > ClockOffset.Agreement && Socket.GetStatistics().UnreadMessages == 0)
            {
                age = connection.Judge(elapsed, delay);
                clocksDifferBy = age;
            }
        }

        return envelope.TimeLeft is { } timeLeft ? now + (long)((timeLeft - age).TotalSeconds * clock.TimestampFrequency) : long.MaxValue;
    }

    /// <summary>Kept with the connection, unless the application stores its own UserState there: then each message is treated as a
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
