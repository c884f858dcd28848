using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Forms;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;

namespace Net.Zlink.Conformance.Tests.Replay.Comparing;

/// <summary>What the implementation put on its connections in a step, all of it joined, and which of them it closed.</summary>
internal sealed class WireCheck(Transcript transcript, string implemented, PlayedNetwork network, WireForm form)
{
    /// <summary>How far the distance in time between two records may be from the recording's, in milliseconds: as far as the native core's
    /// own timers and its machine were off.</summary>
    private const long Tolerance = 100;

    public void CheckStep(int step)
    {
        foreach (PlayedConnection connection in network.Connections.Where(connection => network.IsRecorded(connection.Number)))
        {
            WireRecord[] records = [.. FromImplementation(connection.Number)];
            CheckBytes(connection, records, step);
            bool mayHaveEnded = connection.ClosedHere || records.Any(record => record.Close is not null && record.Step <= step);
            if (connection.End is { } end && !mayHaveEnded)
            {
                throw new ReplayFailedException(
                    $"step {step}: {implemented} closed connection {connection.Number} ({end}), which the file does not show");
            }
        }
    }

    /// <summary>A severed run: of the step of the cut there may be less than the file shows, but nothing else.</summary>
    public void CheckPrefix(PlayedConnection connection, int step)
    {
        if (form.CompareBeginning(connection, [.. FromImplementation(connection.Number).Where(record => record.Step == step)])
            is { } difference)
        {
            throw new ReplayFailedException($"step {step}: on connection {connection.Number} {implemented} sent {difference}");
        }
    }

    private void CheckBytes(PlayedConnection connection, WireRecord[] all, int step)
    {
        WireRecord[] records = [.. all.Where(record => record.Step == step && record.Close is null)];
        if (form.Compare(connection, records) is { } difference)
        {
            throw new ReplayFailedException(
                $"step {step}: {implemented} sent something else on connection {connection.Number}: {difference}");
        }

        CheckDistances(connection, records, all.Where(record => record.Step < step).Sum(form.UnitsOf), step);
    }

    /// <summary>Where timers decide, records of one step are as far apart as in the recording. A connection that was made anew has the
    /// random pause of its making in its times.</summary>
    private void CheckDistances(PlayedConnection connection, WireRecord[] records, int from, int step)
    {
        bool madeAnew = transcript.Actions.Any(action => action.Kind is ActionKind.Accept && action.Connection == connection.Number
            && action.WithinMs is not null);
        if (!transcript.Timed || madeAnew || records.Any(record => record.AtMs is null))
        {
            return;
        }

        int end = from;
        (int Recorded, long Here)? before = null;
        foreach (WireRecord record in records)
        {
            end += form.UnitsOf(record);
            (int Recorded, long Here) now = (record.AtMs!.Value, form.ArrivalOf(connection, end));
            if (before is { } last && Math.Abs(now.Here - last.Here - (now.Recorded - last.Recorded)) > Tolerance)
            {
                throw new ReplayFailedException(
                    $"step {step}: on connection {connection.Number} {implemented} sent a record {now.Here - last.Here} ms behind the "
                        + $"one before; in the file it is {now.Recorded - last.Recorded} ms");
            }

            before = now;
        }
    }

    private IEnumerable<WireRecord> FromImplementation(int connection)
        => transcript.Records.Where(record => record.Connection == connection
            && string.Equals(record.From, implemented, StringComparison.Ordinal));
}
