using System.Diagnostics;
using System.Globalization;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Net.Zlink.Tool.Commands;

internal enum TopOrder
{
    Age,
    In,
    Out,
    Unread,
    Queued,
    Dropped,
}

/// <summary>The last two answers of a process as a table.</summary>
internal sealed class TopTable(TopOrder order, int mostPeers)
{
    /// <summary>Columns where the output is no terminal.</summary>
    public const int WidthOfFile = 160;

    private const string Unknown = "-";

    // In fewer columns there is no space for the figures in bytes.
    private const int Wide = 100;

    private static readonly string[] s_wide = ["in/s", "B in/s", "out/s", "B out/s", "unread", "queued", "dropped"];
    private static readonly string[] s_short = ["in/s", "out/s", "unread", "queued", "dropped"];

    private TopSnapshot? _before;
    private TopSnapshot? _now;
    private double _seconds;
    private long _at;

    public void Add(TopSnapshot facts, long at)
    {
        // Another process may have come at the endpoint: its counters begin anew.
        _before = _now?.ProcessId == facts.ProcessId && _now.StartedAt == facts.StartedAt ? _now : null;
        _seconds = Stopwatch.GetElapsedTime(_at, at).TotalSeconds;
        _now = facts;
        _at = at;
    }

    public IRenderable Draw(int width)
    {
        Table table = new Table().NoBorder().AddColumn("socket, peers", static column => column.PadLeft(0).PadRight(2));
        bool isWide = width >= Wide;
        foreach (string figure in isWide ? s_wide : s_short)
        {
            table.AddColumn(figure, static column => column.RightAligned().NoWrap().PadLeft(0).PadRight(2));
        }

        table.AddColumn("state", static column => column.NoWrap().PadLeft(0).PadRight(0));
        List<string> notes = [];
        foreach ((Row socket, Row[] peers) in Sorted(_now!.Sockets.Select(SocketRow), static one => one.Socket))
        {
            AddRow(table, socket, "", isWide);
            notes.AddRange(socket.Notes.Select(note => $"{socket.Name}: {note}"));
            foreach (Row peer in Sorted(peers, static one => one).Take(mostPeers))
            {
                AddRow(table, peer, "  ", isWide);
                notes.AddRange(peer.Notes.Select(note => $"{socket.Name}: {peer.Name}: {note}"));
            }

            if (mostPeers > 0 && socket.Peers > Math.Min(mostPeers, peers.Length))
            {
                table.AddRow(new Text(string.Create(CultureInfo.InvariantCulture,
                    $"  and {socket.Peers - Math.Min(mostPeers, peers.Length)} more")));
            }
        }

        string waiting = _now.Statistics.QueuesWaiting == 0 ? ""
            : string.Create(CultureInfo.InvariantCulture, $", {_now.Statistics.QueuesWaiting} queues wait for QueuedByteLimit");
        string title = string.Create(CultureInfo.InvariantCulture, $"{_now.Title}, {_now.Sockets.Length} sockets{waiting}");
        return new Rows([Line(title), table, .. notes.Select(Line)]);
    }

    public static string Time(TimeSpan time) =>
        time.ToString(time.TotalDays >= 1 ? @"d\.hh\:mm\:ss" : @"hh\:mm\:ss", CultureInfo.InvariantCulture);

    private static void AddRow(Table table, Row row, string indent, bool isWide)
    {
        IRenderable[] bytesIn = isWide ? [Rate(row.BytesIn)] : [];
        IRenderable[] bytesOut = isWide ? [Rate(row.BytesOut)] : [];
        table.AddRow(
        [
            Line(indent + row.Name), Rate(row.In), .. bytesIn, Rate(row.Out), .. bytesOut, Number(row.Unread), Number(row.Queued),
            Number(row.Dropped), Line(row.State),
        ]);
    }

    /// <summary>What comes from a process is no markup, and cannot move the cursor.</summary>
    private static Text Line(string text) => new(MessageText.Printable(text));

    private static Text Rate(double? value) => new(value is { } known ? Short(known) : Unknown);

    private static Text Number(long value) => new(Short(value));

    private static string Short(double value)
    {
        (double Part, string Unit) shown = value switch
        {
            < 100_000 => (value, ""),
            < 100_000_000 => (value / 1000, "k"),
            < 100_000_000_000 => (value / 1_000_000, "M"),
            _ => (value / 1_000_000_000, "G"),
        };
        string format = shown.Part is > 0 and < 10 && shown.Unit.Length == 0 && shown.Part != Math.Floor(shown.Part) ? "0.0" : "#,0";
        return $"{shown.Part.ToString(format, CultureInfo.InvariantCulture)}{shown.Unit}";
    }

    private IEnumerable<T> Sorted<T>(IEnumerable<T> rows, Func<T, Row> row) => order is TopOrder.Age ? rows
        : rows.OrderByDescending(one => order switch
        {
            TopOrder.In => row(one).In ?? 0,
            TopOrder.Out => row(one).Out ?? 0,
            TopOrder.Unread => row(one).Unread,
            TopOrder.Queued => row(one).Queued,
            _ => row(one).Dropped,
        });

    private (Row Socket, Row[] Peers) SocketRow(TopSocket socket)
    {
        TopSocket? before = _before?.Sockets.FirstOrDefault(one => one.Id == socket.Id);
        TopCounts now = socket.Statistics;
        TopCounts? last = before?.Statistics;
        string endpoints = string.Join(' ', (socket.Bound ?? []).Concat(socket.ConnectsTo ?? []));
        var row = new Row(
            string.Create(CultureInfo.InvariantCulture, $"{socket.Id} {socket.Type} {endpoints}").TrimEnd(),
            PerSecond(now.ReceivedMessages, last?.ReceivedMessages), PerSecond(now.ReceivedBytes, last?.ReceivedBytes),
            PerSecond(now.WrittenMessages, last?.WrittenMessages), PerSecond(now.WrittenBytes, last?.WrittenBytes),
            now.UnreadMessages, now.QueuedMessages, now.Dropped, StateOf(socket), NotesOf(socket), now.Peers);
        Dictionary<string, TopPeer> peersBefore = [];
        foreach (TopPeer peer in before?.AllPeers ?? [])
        {
            peersBefore[peer.Key] = peer;
        }

        return (row, [.. socket.AllPeers.Select(peer => PeerRow(peer, peersBefore.GetValueOrDefault(peer.Key)))]);
    }

    private Row PeerRow(TopPeer peer, TopPeer? last) => new(
        peer.Name.Length == 0 ? Unknown : peer.Name,
        PerSecond(peer.MessagesReceived, last?.MessagesReceived), PerSecond(peer.BytesReceived, last?.BytesReceived),
        PerSecond(peer.MessagesSent, last?.MessagesSent), PerSecond(peer.BytesSent, last?.BytesSent),
        peer.Unread.Messages, peer.Outbound.Messages, peer.MessagesDropped, peer.State,
        peer.WhyNotConnected is { } why ? [$"not connected: {why}"] : [], Peers: 0);

    private double? PerSecond(long now, long? before) => before is { } known && _seconds > 0 ? Math.Max(0, now - known) / _seconds : null;

    private static string StateOf(TopSocket socket) =>
        socket.IsClosed ? "closed" : List([("peers", socket.Statistics.Peers), ("reconnects", socket.Reconnects)]);

    private static string[] NotesOf(TopSocket socket)
    {
        TopCounts counts = socket.Statistics;
        string refused = List([("connections refused", counts.RefusedConnections), ("failed handshakes", counts.FailedHandshakes)]);
        string[] notes = [counts.Dropped > 0 ? $"dropped: {List(counts.Causes)}" : "", refused, .. socket.Problems ?? []];
        return [.. notes.Where(static text => text.Length > 0)];
    }

    private static string List(IEnumerable<(string Text, long Count)> parts) => string.Join(", ",
        parts.Where(static one => one.Count > 0).Select(static one => string.Create(CultureInfo.InvariantCulture,
            $"{one.Count:#,0} {(one.Count == 1 ? one.Text.TrimEnd('s') : one.Text)}")));

    private sealed record Row(
        string Name, double? In, double? BytesIn, double? Out, double? BytesOut, long Unread, long Queued, long Dropped, string State,
        string[] Notes, long Peers);
}
