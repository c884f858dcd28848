using System.Buffers.Binary;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>
/// STREAM: every frame that is whole is a message, then comes the disconnect event; a header that is not allowed ends the connection by
/// itself. A connection whose upgrade was never completed
/// is none to the application, and a failed handshake to the monitor.
/// </summary>
internal sealed class StreamSeveringOracle : ISeveringOracle
{
    /// <summary>Our limit where the application sets none (docs/protocol.md, section 2).</summary>
    private const long DefaultLimit = 8 * 1024 * 1024;

    private const int HeaderSize = sizeof(uint);
    private const int ProtocolError = 3;
    private const int TransportError = 4;
    private static readonly byte[] Disconnected = [0];

    public SeveredOutcome Expect(Severance severance)
    {
        Transcript transcript = severance.Transcript;
        if (transcript.Actions.Any(action => action.Kind is ActionKind.Close && action.Step <= severance.Step
            && IsAt(severance, action.At)))
        {
            return new SeveredOutcome([], Events(severance, loss: null)); // The application is gone: nobody is told.
        }

        var delivered = new List<DeliveredMessage>();
        delivered.AddRange(Deliveries(severance).Where(
            message => message.Step == severance.Step && IsConnect(severance, message) && !IsNeverUp(severance, message)));
        var readers = new Dictionary<int, FrameCutter>();
        foreach (PlayedBytes played in severance.Played)
        {
            if (!readers.TryGetValue(played.Connection, out FrameCutter? reader))
            {
                readers.Add(played.Connection, reader = new FrameCutter(LimitOf(transcript.Sides[severance.Implemented])));
            }

            IReadOnlyList<byte[]> whole = reader.Take(played.Bytes);
            if (played.Step == severance.Step && !IsGoneBefore(severance, played.Connection)
                && !IsDroppedByApp(severance, played.Connection))
            {
                delivered.AddRange(whole.Select(payload => Message(severance, played.Connection, payload, "data")));
            }
        }

        if (severance.NeverUp.Contains(severance.Connection))
        {
            return new SeveredOutcome(Lines(delivered), Events(severance, ProtocolError));
        }

        bool gone = IsGoneBefore(severance, severance.Connection);
        if (!gone)
        {
            delivered.Add(Message(severance, severance.Connection, Disconnected, "disconnected"));
        }

        bool silent = gone || IsDroppedByApp(severance, severance.Connection);
        bool broken = readers.TryGetValue(severance.Connection, out FrameCutter? last) && last.IsBroken;
        return new SeveredOutcome(Lines(delivered), Events(severance, silent ? null : broken ? ProtocolError : TransportError));
    }

    /// <summary>A line for each peer.</summary>
    private static IReadOnlyList<DeliveredMessage>[] Lines(IEnumerable<DeliveredMessage> delivered)
        => [.. delivered.GroupBy(message => Convert.ToHexString(message.Parts[0]), StringComparer.Ordinal)
            .Select(line => (IReadOnlyList<DeliveredMessage>)[.. line])];

    private static MonitorEvent[]? Events(Severance severance, long? loss)
    {
        Transcript transcript = severance.Transcript;
        if (transcript.Events is null)
        {
            return null;
        }

        int ready = transcript.Actions.Where(action => action.Step <= severance.Step
            && action.Kind is ActionKind.Connect or ActionKind.Accept)
            .Select(action => action.Connection).Distinct()
                .Count(connection => IsOurs(severance, connection) && !severance.NeverUp.Contains(connection));
        int lost = transcript.Records.Where(record => record.Step < severance.Step && record.Close is not null)
            .Select(record => record.Connection).Distinct()
                .Count(connection => IsOurs(severance, connection) && !IsDroppedByApp(severance, connection));
        IEnumerable<MonitorEvent> before = Named("CONNECTION_READY").Take(ready).Concat(Named("DISCONNECTED").Take(lost));
        if (severance.NeverUp.Contains(severance.Connection))
        {
            before = [.. before, new MonitorEvent(severance.Implemented, severance.Step, "HANDSHAKE_FAILED_NO_DETAIL", 0, [], Noise: true,
                [])];
        }

        return loss is null ? [.. before] : [.. before,
            new MonitorEvent(severance.Implemented, severance.Step, "DISCONNECTED", loss.Value, [], Noise: false, [])];

        IEnumerable<MonitorEvent> Named(string name)
            => transcript.Events.Where(expected => IsAt(severance, expected.At)
                && string.Equals(expected.Name, name, StringComparison.Ordinal));
    }

    private static DeliveredMessage Message(Severance severance, int connection, byte[] payload, string kind)
    {
        bool told = severance.Transcript.Delivered.Any(message => message.Kind is not null);
        return new DeliveredMessage(severance.Implemented, severance.Step, [IdOf(severance, connection), payload])
        {
            Kind = told ? kind
            : null
        };
    }

    private static IEnumerable<DeliveredMessage> Deliveries(Severance severance)
        => severance.Transcript.Delivered.Where(message => IsAt(severance, message.At));

    /// <summary>The first that is heard of an id is that it is there; a payload of 01 later is the client's own.</summary>
    private static bool IsConnect(Severance severance, DeliveredMessage message)
        => Deliveries(severance).First(other => other.Parts[0].AsSpan().SequenceEqual(message.Parts[0])) == message;

    /// <summary>Closed in an earlier step, by whomever.</summary>
    private static bool IsGoneBefore(Severance severance, int connection)
        => severance.Transcript.Records.Any(record => record.Connection == connection && record.Step < severance.Step
            && record.Close is not null);

    /// <summary>The application has sent [id, 00].</summary>
    private static bool IsDroppedByApp(Severance severance, int connection)
        => severance.Transcript.Sent.Any(message => message.Step <= severance.Step && message.Error is null && IsAt(severance, message.At)
            && message.Parts.Count > 1 && message.Parts[0].AsSpan().SequenceEqual(IdOf(severance, connection))
                && message.Parts[1].AsSpan().SequenceEqual(Disconnected));

    /// <summary>Ids count from 1 per socket, in the order in which its connections are opened.</summary>
    private static byte[] IdOf(Severance severance, int connection)
    {
        List<int> opened = [.. severance.Transcript.Actions.Where(action => action.Kind is ActionKind.Connect or ActionKind.Accept)
            .Select(action => action.Connection).Distinct().Where(other => IsOurs(severance, other))];
        byte[] id = new byte[sizeof(uint)];
        BinaryPrimitives.WriteInt32BigEndian(id, opened.IndexOf(connection) + 1);
        return id;
    }

    private static bool IsNeverUp(Severance severance, DeliveredMessage message)
        => severance.NeverUp.Any(connection => message.Parts[0].AsSpan().SequenceEqual(IdOf(severance, connection)));

    private static bool IsOurs(Severance severance, int connection) => severance.Implemented is "b"
        || IsAt(severance, severance.Transcript.ConnectorOf(connection));

    private static bool IsAt(Severance severance, string at) => string.Equals(at, severance.Implemented, StringComparison.Ordinal);

    private static long LimitOf(Side side)
        => side.Options.LastOrDefault(option => option.Name is "MAXMSGSIZE")?.Value.Number is { } limit and >= 0 ? limit : DefaultLimit;

    /// <summary>Cuts a connection's bytes into frames, up to the first whose length is over the limit.</summary>
    private sealed class FrameCutter(long limit)
    {
        private readonly List<byte> _tail = [];

        public bool IsBroken { get; private set; }

        public IReadOnlyList<byte[]> Take(byte[] bytes)
        {
            _tail.AddRange(bytes);
            var whole = new List<byte[]>();
            while (!IsBroken && _tail.Count >= HeaderSize)
            {
                uint length = BinaryPrimitives.ReadUInt32BigEndian([.. _tail[..HeaderSize]]);
                IsBroken = length > limit;
                if (IsBroken || _tail.Count - HeaderSize < length)
                {
                    break;
                }

                whole.Add([.. _tail[HeaderSize..(HeaderSize + (int)length)]]);
                _tail.RemoveRange(0, HeaderSize + (int)length);
            }

            return whole;
        }
    }
}
