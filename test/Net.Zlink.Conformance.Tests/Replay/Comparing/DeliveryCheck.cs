using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Comparing;

/// <summary>What the implementation's application receives, against what the file says: content, order, and the step.</summary>
internal sealed class DeliveryCheck(IImplementedSide side, RandomValues random, Stillness stillness)
{
    private bool _closed;

    /// <summary>The application closed the socket: there is nothing more to read.</summary>
    public void SocketClosed() => _closed = true;

    /// <summary>Waits for these messages, in order.</summary>
    public async Task AwaitAsync(IEnumerable<DeliveredMessage> expected)
    {
        foreach (DeliveredMessage message in expected)
        {
            ReceivedMessage? received = await ReceiveAsync();
            if (received is null)
            {
                throw new ReplayFailedException($"step {message.Step}: {Show(message.Parts)} was never delivered");
            }

            Compare(message, received);
        }
    }

    /// <summary>Waits for these messages, each line in order, and the lines in any order with each other.</summary>
    public async Task AwaitInterleavedAsync(IReadOnlyList<IReadOnlyList<DeliveredMessage>> lines, int step)
    {
        if (lines.Count == 1)
        {
            await AwaitAsync(lines[0]);
            return;
        }

        var received = new List<ReceivedMessage>();
        while (received.Count < lines.Sum(line => line.Count) && await ReceiveAsync() is { } message)
        {
            received.Add(message);
        }

        if (!Interleaving.Exists(received, lines, (actual, expected) => Difference(expected, actual) is null))
        {
            string got = string.Join(", ", received.Select(message => Show(message.Parts)));
            string wanted = string.Join("; ", lines.Select(line => string.Join(", ", line.Select(message => Show(message.Parts)))));
            throw new ReplayFailedException($"step {step}: delivered {got}; expected, each line in order: {wanted}");
        }
    }

    /// <summary>Nothing more may be there.</summary>
    public void NothingMore(int step)
    {
        if (!_closed && side.TryReceive(out ReceivedMessage extra))
        {
            throw new ReplayFailedException($"step {step}: {Show(extra.Parts)} was delivered, which the file does not show");
        }
    }

    private async Task<ReceivedMessage?> ReceiveAsync()
    {
        if (_closed)
        {
            return null;
        }

        ReceivedMessage? message = null;
        await stillness.HasComeAsync(
            () => side.TryReceive(out message!), async cancellation => message = await side.ReceiveAsync(cancellation));
        return message;
    }

    private void Compare(DeliveredMessage expected, ReceivedMessage actual)
    {
        if (Difference(expected, actual) is { } difference)
        {
            throw new ReplayFailedException(
                $"step {expected.Step}: delivered {Show(actual.Parts)} for {Show(expected.Parts)}: {difference}");
        }
    }

    private string? Difference(DeliveredMessage expected, ReceivedMessage actual)
    {
        if (expected.Parts.Count != actual.Parts.Count)
        {
            return $"{actual.Parts.Count} parts instead of {expected.Parts.Count}";
        }

        for (int part = 0; part < expected.Parts.Count; part++)
        {
            if (random.Compare(expected.Parts[part], actual.Parts[part], expected.Random.Where(field => field.Part == part))
                is { } difference)
            {
                return $"part {part}: {difference}";
            }
        }

        if (expected.Properties is not null && !(actual.Properties ?? new Dictionary<string, string>(StringComparer.Ordinal)).ToHashSet()
            .SetEquals(expected.Properties))
        {
            return $"properties {ShowProperties(actual.Properties)} instead of {ShowProperties(expected.Properties)}";
        }

        bool sameKind = expected.Kind is null || string.Equals(expected.Kind, actual.Kind, StringComparison.Ordinal);
        return sameKind ? null : $"told as {actual.Kind ?? "nothing"} instead of {expected.Kind}";
    }

    private static string Show(IEnumerable<byte[]> parts) => string.Join(" | ", parts.Select(part => RandomValues.Show(part)));

    private static string ShowProperties(IReadOnlyDictionary<string, string>? properties)
        => properties is null ? "none" : string.Join(", ", properties.Select(property => $"{property.Key}={property.Value}"));
}
