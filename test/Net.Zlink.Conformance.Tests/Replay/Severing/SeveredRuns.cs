using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Severing;

/// <summary>The cuts of a transcript: behind every byte that the played side sends.</summary>
internal static class SeveredRuns
{
    public static IReadOnlyList<Cut> Of(Transcript transcript, string implemented, Sampling sampling)
    {
        var cuts = new List<Cut>();
        var sent = new Dictionary<int, int>();
        int end = transcript.Undecided?.Step ?? int.MaxValue;
        foreach (WireRecord record in transcript.Records.Where(
            record => record.Step < end && record.Bytes.Length > 0 && IsPlayed(transcript, record, implemented)))
        {
            int start = sent.GetValueOrDefault(record.Connection);
            cuts.AddRange(sampling.Places(record.Bytes.Length).Select(place => new Cut(record.Connection, start + place)));
            sent[record.Connection] = start + record.Bytes.Length;
        }

        return cuts;
    }

    /// <summary>What an oracle needs to know about a cut.</summary>
    public static Severance Describe(Transcript transcript, string implemented, int step, Cut cut)
    {
        var played = new List<PlayedBytes>();
        int left = cut.Bytes;
        foreach (WireRecord record in transcript.Records.Where(record => left > 0 && IsPlayed(transcript, record, implemented)))
        {
            bool here = record.Connection == cut.Connection;
            played.Add(new PlayedBytes(record.Connection, record.Step, here && left < record.Bytes.Length ? record.Bytes[..left]
                : record.Bytes));
            left -= here ? record.Bytes.Length : 0;
        }

        return new Severance(transcript, implemented, step, cut.Connection, played);
    }

    /// <summary>All that happens up to the cut, as text: two cuts of the same text, be it of different transcripts, are the same
    /// run.</summary>
    public static string Fingerprint(Transcript transcript, Side side, Cut cut)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture,
            $"{side.Name} {side.Type} {side.Role} {side.Transport} {side.Endpoint} {transcript.HasRawSide} {transcript.Timed} "
            + $"{transcript.Events is null} {cut}\n");
        side.Options.ToList().ForEach(option => Append(text, option));
        int left = cut.Bytes;
        int step = 0;
        foreach (WireRecord record in transcript.Records.Where(_ => left > 0))
        {
            step = record.Step;
            bool here = record.Connection == cut.Connection && IsPlayed(transcript, record, side.Name);
            byte[] bytes = here && left < record.Bytes.Length ? record.Bytes[..left] : record.Bytes;
            text.Append(CultureInfo.InvariantCulture,
                $"{record.From} {record.Step} {record.Connection} {record.Close} {record.AtMs} {record.Random.Count} "
                + $"{Convert.ToHexString(bytes)}\n");
            left -= here ? record.Bytes.Length : 0;
        }

        foreach (TranscriptAction action in transcript.Actions.Where(action => action.Step <= step))
        {
            text.Append(CultureInfo.InvariantCulture,
                $"{action.Step} {action.At} {action.Kind} {action.Connection} {action.WithinMs} {action.Unrecorded} "
                + $"{Convert.ToHexString(action.Topic)} {action.Cut} {action.Milliseconds} "
                + $"{transcript.HandshakeSteps.Contains(action.Step)}\n");
            if (action.Option is { } option)
            {
                Append(text, option);
            }
        }

        foreach (SentMessage message in transcript.Sent.Where(message => message.Step <= step))
        {
            text.Append(CultureInfo.InvariantCulture,
                $"{message.At} {message.Step} {message.Error} {message.Random.Count} "
                + $"{string.Join(' ', message.Parts.Select(Convert.ToHexString))}\n");
        }

        return Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(text.ToString())));
    }

    private static void Append(StringBuilder text, SideOption option)
        => text.Append(CultureInfo.InvariantCulture, $"{option.Name} {option.Value.Number} {Convert.ToHexString(option.Value.Bytes)}\n");

    private static bool IsPlayed(Transcript transcript, WireRecord record, string implemented)
        => !string.Equals(record.From, implemented, StringComparison.Ordinal)
            && (implemented is "b" || string.Equals(transcript.ConnectorOf(record.Connection), implemented, StringComparison.Ordinal));
}
