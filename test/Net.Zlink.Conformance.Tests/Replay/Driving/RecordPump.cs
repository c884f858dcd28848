using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Forms;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>
/// Plays the records of one step: each of the played side as soon as all earlier ones of its connection were seen. In files of two native
/// sides with
/// times, played records go by the clock instead (heartbeats cross).
/// </summary>
internal sealed class RecordPump
{
    /// <summary>Records up to this many milliseconds apart are of one cause: what took longer was made a record of its own in the
    /// recordings.</summary>
    private const int SameTime = 20;

    private readonly List<Line> _lines = [];
    private readonly ReplayOptions _options;
    private readonly PlayedSender _sender;
    private readonly WireForm _form;
    private readonly ReplayClock _clock;

    public RecordPump(Transcript transcript, string implemented, int step, PlayedNetwork network, PlayedSender sender, WireForm form,
        ReplayClock clock, ReplayOptions options)
    {
        (_options, _sender, _form, _clock) = (options, sender, form, clock);
        var seen = new Dictionary<int, int>();
        bool byClock = !transcript.HasRawSide && transcript.Records.Any(record => record.AtMs is not null);
        HashSet<int> fresh = transcript.HandshakeSteps.Contains(step)
            ? [.. transcript.Actions.Where(a => a.Step == step && a.Kind is ActionKind.Connect or ActionKind.Accept)
                .Select(a => a.Connection)] : [];
        foreach ((WireRecord record, int index) in transcript.Records.Select((record, index) => (record, index)))
        {
            int connection = record.Connection;
            bool played = !string.Equals(record.From, implemented, StringComparison.Ordinal);
            int target = seen[connection] = seen.GetValueOrDefault(connection) + (played ? 0 : form.UnitsOf(record));
            if (record.Step == step && network.IsLive(connection))
            {
                // By the clock, what one side sends does not wait for what the other does: a line each.
                Line line = LineOf(network.Get(connection), byClock && played, byClock);
                line.Items.Add(new Item(record, index, played, target));
            }
        }

        foreach (Line line in _lines.Where(line => fresh.Contains(line.Connection.Number)))
        {
            line.SpeakAtOnce();
        }
    }

    public bool IsDone => _lines.TrueForAll(line => line.Next == line.Items.Count);

    /// <summary>
    /// True while something is missing that needs no time: the implementation's first word on a connection (until it comes nobody knows
    /// that the implementation has noticed its connection: the kernel makes it without asking),
    /// and what the recording has at the same time as what went before.
    /// </summary>
    public bool WaitsForWord => _lines.Exists(line => line.Head is { Played: false, Record.Close: null } && !IsReady(line, timeIsUp: false)
        && (line.Connection is { ReceivedCount: 0, End: null } || line.IsHeadAtOnce(SameTime)));

    /// <summary>When the next played record is due by the clock; null when none is.</summary>
    public long? NextDue => _lines.Where(line => line is { ByClock: true, Head.Played: true }).Min(line => line.Head!.Record.AtMs);

    /// <summary>Plays all whose turn has come.</summary>
    /// <param name="timeIsUp">The step's idle is over: nothing waits for the clock any more.</param>
    public async Task AdvanceAsync(bool timeIsUp)
    {
        while (!_sender.IsCut && _lines.Where(line => IsReady(line, timeIsUp)).MinBy(line => line.Head!.Index) is { } line)
        {
            if (line.Head!.Played)
            {
                await PlayAsync(line);
            }
            else
            {
                line.Next++;
            }
        }
    }

    /// <summary>What has not come, in words.</summary>
    public string Missing()
    {
        Line line = _lines.First(line => line.Head is not null);
        Item head = line.Head!;
        return head.Record.Close is null
            ? $"{head.Target} {_form.Unit} are expected on connection {line.Connection.Number} by now, there are "
                + $"{_form.ReceivedOn(line.Connection)}: {RandomValues.Show(line.Connection.Received(0), int.MaxValue)}"
            : $"{head.Record.From} has not closed connection {line.Connection.Number}";
    }

    private async Task PlayAsync(Line line)
    {
        Item item = line.Head!;
        PlayedConnection connection = line.Connection;
        line.Next++;
        if (item.Record.Close is not null)
        {
            connection.Drain();
            bool closedBefore = line.Items.Take(line.Next).Any(earlier => !earlier.Played && earlier.Record.Close is not null);

            // A close that comes with other bytes (an ERROR) may cross the close with which the implementation answers these.
            bool mayCross = line.Next > 1 && line.Items[line.Next - 2] is { Played: true, Record.Close: null }
                && line.Items.Skip(line.Next).Any(later => later is { Played: false, Record: { Close: not null, Assumed: false } });
            if (connection.End is not null && !closedBefore && !mayCross && !connection.ClosedHere && !item.Record.Assumed
                && !line.EndedBefore)
            {
                throw new ReplayFailedException(
                    $"step {item.Record.Step}: connection {connection.Number} was closed by the implementation first; the file says "
                    + $"{item.Record.From}");
            }

            connection.ShutdownSend();
            return;
        }

        byte[] bytes = _form.BytesToSend(item.Record);
        while (_options.Variant is Variant.Merged && line.Head is { Played: true, Record.Close: null } && !line.ByClock)
        {
            bytes = [.. bytes, .. _form.BytesToSend(line.Head.Record)];
            line.Next++;
        }

        await _sender.SendAsync(connection, bytes, item.Record.Segment);
    }

    private bool IsReady(Line line, bool timeIsUp)
    {
        if (line.Head is not { } head)
        {
            return false;
        }

        if (head.Played)
        {
            return !line.ByClock || timeIsUp || head.AtOnce || head.Record.AtMs is null || head.Record.AtMs <= _clock.Elapsed;
        }

        return head.Record.Assumed || (head.Record.Close is null ? _form.ReceivedOn(line.Connection) >= head.Target
            : line.Connection.End is not null);
    }

    private Line LineOf(PlayedConnection connection, bool played, bool byClock)
    {
        Line? line = _lines.Find(line => line.Connection == connection && line.Played == played);
        if (line is null)
        {
            _lines.Add(line = new Line(connection, played, byClock, connection.End is not null));
        }

        return line;
    }

    /// <summary>A record of the line. <paramref name="Target"/>: how many units the implementation has sent on the connection, from the
    /// start, once all up to this record are there.</summary>
    private sealed record Item(WireRecord Record, int Index, bool Played, int Target)
    {
        /// <summary>The first word of a handshake, for which nobody waits.</summary>
        public bool AtOnce { get; init; }
    }

    private sealed class Line(PlayedConnection connection, bool played, bool byClock, bool endedBefore)
    {
        public PlayedConnection Connection { get; } = connection;

        public bool Played { get; } = played;

        public bool ByClock { get; } = byClock;

        /// <summary>The other side had closed in an earlier step.</summary>
        public bool EndedBefore { get; } = endedBefore;

        public List<Item> Items { get; } = [];

        public int Next { get; set; }

        public Item? Head => Next < Items.Count ? Items[Next] : null;

        /// <summary>The next record followed the one before it without a pause.</summary>
        public bool IsHeadAtOnce(int within) => Next > 0 && Head!.Record.AtMs - Items[Next - 1].Record.AtMs <= within;

        /// <summary>Both sides of a new connection speak at once: the played side's first record waits for nothing. But the answer to an
        /// upgrade follows its request.</summary>
        public void SpeakAtOnce()
        {
            int first = Items.FindIndex(item => item.Played);
            if (first >= 0 && Items[first].Record.Http?.Status is null)
            {
                Item item = Items[first] with { AtOnce = true };
                Items.RemoveAt(first);
                Items.Insert(0, item);
            }
        }
    }
}
