using System.Text;
using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Replay.Severing;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replay.Forms;

/// <summary>
/// ws: heads by their rules, the joined payload of a step's data frames, control frames in their places among it. How the payload is cut
/// into messages and fragments, and by what it is masked, is the sender's affair.
/// </summary>
internal sealed class WsForm(Transcript transcript, string implemented, RandomValues random) : WireForm
{
    private const string AcceptId = "accept";
    private readonly Dictionary<int, Inbound> _inbound = [];

    public override string Unit => "heads, payload bytes and control frames";

    public override int UnitsOf(WireRecord record) => (record.Http is null ? 0 : 1) + (record.Payload?.Length ?? 0) + record.Control.Count;

    public override int ReceivedOn(PlayedConnection connection) => Read(connection).Reading.Units;

    public override long ArrivalOf(PlayedConnection connection, int units)
    {
        int sum = 0;
        WsItem item = Read(connection).Reading.Items.First(item => (sum += item.Units) >= units);
        return connection.ArrivalOf(item.End);
    }

    /// <summary>As they stand, masks and all; but an answer must fit the key that the implementation has chosen.</summary>
    public override byte[] BytesToSend(WireRecord record)
    {
        byte[] bytes = random.Fill(record.Bytes, record.Random.Where(field => field.Id is not AcceptId));
        foreach (RandomField field in record.Random.Where(field => field.Id is AcceptId))
        {
            string? key = _inbound.GetValueOrDefault(record.Connection)?.Reading.Items is [{ Head: { } request }, ..]
                ? request.Headers.GetValueOrDefault(WsUpgrade.KeyHeader) : null;
            byte[] accept = Encoding.ASCII.GetBytes(WsUpgrade.Accept(
                key ?? throw new ReplayFailedException($"{implemented} sent no key on connection {record.Connection}")));
            accept.AsSpan(0, field.Length).CopyTo(bytes.AsSpan(field.Offset));
        }

        return bytes;
    }

    public override string? Compare(PlayedConnection connection, IReadOnlyList<WireRecord> records)
    {
        Inbound inbound = Read(connection);
        WsItem[] fresh = [.. inbound.Reading.Items.Skip(inbound.Compared)];
        inbound.Compared = inbound.Reading.Items.Count;
        if (inbound.Reading.Fault is { } fault)
        {
            return $"{fault}, behind {WsComparison.Show(fresh)}";
        }

        string? difference = WsComparison.Difference(WsComparison.Expected(records), fresh, ContextOf(connection), isWhole: true);
        return difference ?? (inbound.Reading.Unfinished == 0 ? null
            : $"{inbound.Reading.Unfinished} bytes of a frame that never became whole");
    }

    public override string? CompareBeginning(PlayedConnection connection, IReadOnlyList<WireRecord> records)
    {
        Inbound inbound = Read(connection);
        return inbound.Reading.Fault ?? WsComparison.Difference(
            WsComparison.Expected(records), [.. inbound.Reading.Items.Skip(inbound.Compared)], ContextOf(connection), isWhole: false);
    }

    public override Severance Unwrap(Severance severance) => WsUnwrapping.Of(severance);

    private Inbound Read(PlayedConnection connection)
    {
        if (!_inbound.TryGetValue(connection.Number, out Inbound? inbound))
        {
            bool masked = transcript.Sides[implemented].Role is SideRole.Connect;
            _inbound.Add(connection.Number, inbound = new Inbound(new WsReading(masked)));
        }

        byte[] more = connection.Received(inbound.Bytes);
        inbound.Bytes += more.Length;
        inbound.Reading.Take(more);
        return inbound;
    }

    /// <summary>What the words KEY, ACCEPT and PORT mean on this connection.</summary>
    private WsContext ContextOf(PlayedConnection connection)
    {
        WireRecord? request = transcript.Records.FirstOrDefault(
            record => record.Connection == connection.Number && record.Http?.Method is not null
            && !string.Equals(record.From, implemented, StringComparison.Ordinal));
        HttpHead? head = request is null ? null : HttpHead.TryParse(request.Bytes.AsSpan(0, request.Http!.Length));
        return new WsContext(connection.LocalPort, head?.Headers.GetValueOrDefault(WsUpgrade.KeyHeader));
    }

    /// <summary>What the implementation has sent on a connection.</summary>
    private sealed class Inbound(WsReading reading)
    {
        public WsReading Reading { get; } = reading;

        /// <summary>How many bytes were given to the reading.</summary>
        public int Bytes { get; set; }

        /// <summary>How many of its items were compared.</summary>
        public int Compared { get; set; }
    }
}
