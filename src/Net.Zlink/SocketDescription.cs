using System.Globalization;
using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

internal static class SocketDescription
{
    // A socket may have thousands of peers; a log gets the first ones and their number.
    private const int MaxPeers = 100;

    // At a few hundred bytes this is still one line.
    private const int MaxEndpoints = 20;

    public static string Of(ZlinkSocket socket)
    {
        SocketStatistics counts = socket.GetStatistics();
        var text = new StringBuilder();
        Line(text, $"{socket.Core.TypeName}{(socket.Parts.IsClosed ? ", closed" : "")}{socket.Core.DescribeTopics()}");
        Endpoints(text, socket.Endpoints);
        Part(text, $"  connections: {counts.AcceptedConnections} accepted, {counts.DialledConnections} dialled, ");
        Part(text, $"{counts.RefusedConnections} refused, {FailedHandshakes(counts.HandshakeFailures)}");
        Line(text, $"{(socket is StreamSocket ? $", {counts.ClosedConnections} closed, {counts.HandlerFaults} handlers threw" : "")}");
        Part(text, $"  sent: {counts.AcceptedMessages} accepted = {counts.WrittenMessages} written + {counts.DroppedMessages} dropped ");
        Part(text, $"({counts.ObsoleteMessages} obsolete) + {counts.QueuedMessages} queued; ");
        Part(text, $"not accepted: {counts.DroppedAtHighWaterMark} at a high-water mark, {counts.DroppedAtByteLimit} at a byte limit, ");
        Part(text, $"{counts.DroppedAtContextLimit} at the context's byte limit, {counts.DroppedUnroutable} unroutable, ");
        Line(text, $"{counts.UnmatchedMessages} unmatched");
        Part(text, $"  received: {counts.ReceivedMessages} read = {counts.DeliveredMessages} delivered ");
        Part(text, $"+ {counts.DroppedUnreadMessages} dropped + {counts.UnreadMessages} unread ");
        Line(text, $"+ {counts.FilteredMessages} filtered");
        Memory(text, socket.Host);
        foreach (string problem in socket.DescribeProblems())
        {
            Line(text, $"  {problem}");
        }

        Peers(text, socket);
        return text.ToString();
    }

    private static void Peers(StringBuilder text, ZlinkSocket socket)
    {
        string[] peers = [.. socket.DescribePeers()];
        Line(text, $"  {peers.Length} peers");
        foreach (string peer in peers.Take(MaxPeers))
        {
            Line(text, $"    {peer}");
        }

        if (peers.Length > MaxPeers)
        {
            Line(text, $"    and {peers.Length - MaxPeers} more");
        }
    }

    private static void Memory(StringBuilder text, EngineHost host)
    {
        BufferPoolStatistics pool = host.Pool.GetStatistics();
        Part(text, $"  buffers of the context: {pool.BytesRented} bytes rented, ");
        Line(text, $"{pool.BytesKept} retained of at most {host.Pool.RetainedByteLimit}");
        if (host.Queued is { Waiting: > 0 } queued)
        {
            Part(text, $"  {queued.Waiting} queues of the context wait: ");
            Line(text, $"{queued.Used} of its QueuedByteLimit of {queued.Limit} bytes are in use");
        }
    }

    private static void Endpoints(StringBuilder text, EndpointStatus[] all)
    {
        Part(text, $"  bound: {List(EndpointStatus.RedactedTextsOf(all, areBound: true))}; ");
        Line(text, $"connects to: {List(EndpointStatus.RedactedTextsOf(all, areBound: false))}");
    }

    private static string List(IReadOnlyList<string> endpoints) => endpoints.Count == 0 ? "nothing"
        : string.Join(", ", endpoints.Take(MaxEndpoints))
            + (endpoints.Count > MaxEndpoints ? FormattableString.Invariant($" and {endpoints.Count - MaxEndpoints} more") : "");

    private static string FailedHandshakes(HandshakeFailureCounts failures)
    {
        (string Cause, long Count)[] causes =
        [
            ("lost", failures.Lost), ("timed out", failures.TimedOut), ("malformed", failures.Malformed),
            ("of another type", failures.TypeMismatch), ("ended by the peer's ERROR", failures.ErrorReceived),
            ("for a certificate", failures.Certificate),
        ];
        string details = string.Join(", ", causes.Where(static one => one.Count > 0)
            .Select(static one => FormattableString.Invariant($"{one.Count} {one.Cause}")));
        return FormattableString.Invariant($"{failures.Total} failed handshakes{(details.Length > 0 ? $" ({details})" : "")}");
    }

    private static void Part(StringBuilder text, FormattableString part) => text.Append(part.ToString(CultureInfo.InvariantCulture));

    private static void Line(StringBuilder text, FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));
}
