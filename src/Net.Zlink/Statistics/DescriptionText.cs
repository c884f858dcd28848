using System.Globalization;
using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

internal static class DescriptionText
{
    // A socket may have thousands of peers; a log gets the first ones and their number.
    private const int MaxPeers = 100;

    // At a few hundred bytes this is still one line.
    private const int MaxEndpoints = 20;

    public static void Peers<T>(StringBuilder text, IReadOnlyList<T> peers, Action<StringBuilder, T> describe)
    {
        Line(text, $"  {peers.Count} peers");
        foreach (T peer in peers.Take(MaxPeers))
        {
            text.Append("    ");
            describe(text, peer);
            text.AppendLine();
        }

        if (peers.Count > MaxPeers)
        {
            Line(text, $"    and {peers.Count - MaxPeers} more");
        }
    }

    public static void Memory(StringBuilder text, EngineHost host)
    {
        BufferPoolStatistics pool = host.Pool.GetStatistics();
        Part(text, $"  buffers of the context: {pool.BytesRented} bytes rented, ");
        Line(text, $"{pool.BytesKept} retained of at most {host.Pool.RetainedByteLimit}");
        QueuesWaiting(text, host.Budget);
    }

    private static void QueuesWaiting(StringBuilder text, ByteBudget? budget)
    {
        if (budget is { Waiting: > 0 })
        {
            Part(text, $"  {budget.Waiting} queues of the context wait: ");
            Line(text, $"{budget.Used} of its QueuedByteLimit of {budget.Limit} bytes are in use");
        }
    }

    public static void Endpoints(StringBuilder text, EndpointStatus[] all)
    {
        Part(text, $"  bound: {List(EndpointStatus.RedactedTextsOf(all, areBound: true))}; ");
        Line(text, $"connects to: {List(EndpointStatus.RedactedTextsOf(all, areBound: false))}");
        foreach (EndpointStatus one in all.Where(static one => one.Problem is not null))
        {
            Line(text, $"  {Quoted(new RedactedEndpoint(one.Text).ToString())}: {one.Problem}");
        }
    }

    private static string List(IReadOnlyList<string> endpoints) => endpoints.Count == 0 ? "nothing"
        : string.Join(", ", endpoints.Take(MaxEndpoints))
            + (endpoints.Count > MaxEndpoints ? FormattableString.Invariant($" and {endpoints.Count - MaxEndpoints} more") : "");

    public static string FailedHandshakes(HandshakeFailureCounts failures)
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

    public static string Ago(TimeSpan? time) =>
        time is { } since ? FormattableString.Invariant($"{since.TotalMilliseconds:0} ms ago") : "never";

    public static string Quoted(string text) => text.Length == 0 ? "-" : text;

    public static void Part(StringBuilder text, FormattableString part) => text.Append(part.ToString(CultureInfo.InvariantCulture));

    public static void Line(StringBuilder text, FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));
}
