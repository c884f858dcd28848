using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Replay.Forms;

/// <summary>tcp: the bytes of a step joined, exact but for what differs on every run.</summary>
internal sealed class TcpForm(RandomValues random) : WireForm
{
    private readonly Dictionary<int, int> _compared = [];

    public override string Unit => "bytes";

    public override int UnitsOf(WireRecord record) => record.Bytes.Length;

    public override int ReceivedOn(PlayedConnection connection) => connection.ReceivedCount;

    public override long ArrivalOf(PlayedConnection connection, int units) => connection.ArrivalOf(units);

    public override byte[] BytesToSend(WireRecord record) => random.Fill(record.Bytes, record.Random);

    public override string? Compare(PlayedConnection connection, IReadOnlyList<WireRecord> records)
    {
        int from = _compared.GetValueOrDefault(connection.Number);
        byte[] actual = connection.Received(from);
        _compared[connection.Number] = from + actual.Length;
        return random.Compare([.. records.SelectMany(record => record.Bytes)], actual, Joined(records));
    }

    public override string? CompareBeginning(PlayedConnection connection, IReadOnlyList<WireRecord> records)
    {
        byte[] expected = [.. records.SelectMany(record => record.Bytes)];
        byte[] actual = connection.Received(_compared.GetValueOrDefault(connection.Number));
        bool varies = records.Any(record => record.Random.Count > 0);
        return varies || expected.AsSpan().StartsWith(actual) ? null
            : $"{RandomValues.Show(actual)}, no beginning of {RandomValues.Show(expected)}";
    }

    public override Severance Unwrap(Severance severance) => severance;

    /// <summary>The random fields of several records, with offsets into all of them joined.</summary>
    private static IEnumerable<RandomField> Joined(IEnumerable<WireRecord> records)
    {
        int start = 0;
        foreach (WireRecord record in records)
        {
            foreach (RandomField field in record.Random)
            {
                yield return field with { Offset = field.Offset + start };
            }

            start += record.Bytes.Length;
        }
    }
}
