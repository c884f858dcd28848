using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>
/// ZMP: of what the transcript delivers in the step of the cut, the messages that were whole by then; an XPUB is then told of the topics
/// that the lost peer held. The monitor hears of the loss,
/// or, where the peer had broken the protocol by then, of that.
/// </summary>
internal sealed class ZmpSeveringOracle : ISeveringOracle
{
    public SeveredOutcome Expect(Severance severance)
    {
        var peers = new SeveredPeers(severance);
        return new SeveredOutcome(Deliveries(severance, peers), severance.Transcript.Events is null ? null : peers.Events());
    }

    private static List<IReadOnlyList<DeliveredMessage>> Deliveries(Severance severance, SeveredPeers peers)
    {
        Side side = severance.Transcript.Sides[severance.Implemented];
        bool isXPub = side.Type is "XPUB";
        DeliveredMessage[] expected = [.. severance.Transcript.Delivered.Where(
            message => message.Step == severance.Step && string.Equals(message.At, severance.Implemented, StringComparison.Ordinal))];

        // What no arriving frame accounts for is the doing of a connection that was dropped at the beginning of the step.
        bool dropsFirst = severance.Transcript.Actions.Any(action => action.Step == severance.Step && action.Kind is ActionKind.Cut);
        HashSet<DeliveredMessage> arriving = Arrived(side, expected, WholeStep(severance));
        HashSet<DeliveredMessage> arrived = Arrived(side, [.. expected.Where(arriving.Contains)], peers.FramesOfStep);
        var delivered = expected.Where(message => arrived.Contains(message) || (dropsFirst && !arriving.Contains(message))).ToList();
        if (isXPub)
        {
            delivered.AddRange(peers.LostTopics().Select(
                topic => new DeliveredMessage(severance.Implemented, severance.Step, [[0, .. topic]])));
        }

        // Notices stand in a line of their own.
        return [.. delivered.GroupBy(message => isXPub && message.Parts is [[0 or 1, ..]])
            .Select(line => (IReadOnlyList<DeliveredMessage>)[.. line])];
    }

    /// <summary>The frames that the played sides send in the step when nothing is cut.</summary>
    private static List<ArrivedFrame> WholeStep(Severance severance)
    {
        List<PlayedBytes> played = [.. severance.Transcript.Records
            .Where(record => record.Step <= severance.Step && record.Bytes.Length > 0
                && !string.Equals(record.From, severance.Implemented, StringComparison.Ordinal)
                && SeveredPeers.IsOurs(severance, record.Connection))
            .Select(record => new PlayedBytes(record.Connection, record.Step, record.Bytes))];
        return new SeveredPeers(severance with { Played = played }).FramesOfStep;
    }

    /// <summary>Which of these messages the frames account for, in order. Frames that account for none were filtered, dropped, or came from
    /// a peer that is not read.</summary>
    private static HashSet<DeliveredMessage> Arrived(Side side, DeliveredMessage[] expected, List<ArrivedFrame> frames)
    {
        var arrived = new HashSet<DeliveredMessage>(ReferenceEqualityComparer.Instance);
        var open = new Dictionary<int, List<byte[]>>();
        int envelope = side.Type is "ROUTER" ? 1 : 0;
        int next = 0;
        foreach (ArrivedFrame arrival in frames)
        {
            PeerFrame frame = arrival.Frame;
            List<byte[]> parts = open.TryGetValue(arrival.Connection, out List<byte[]>? begun) ? begun : open[arrival.Connection] = [];
            bool isNotice = side.Type is "XPUB" && arrival.IsSubscription;
            parts.Add(isNotice ? frame.Notice : frame.Body);
            if (frame.HasMore && !isNotice)
            {
                continue;
            }

            // Those in between are not the doing of a frame.
            int match = Array.FindIndex(expected, next, message => Same(message.Parts.Skip(envelope), parts));
            if (match >= 0)
            {
                arrived.Add(expected[match]);
                next = match + 1;
            }

            parts.Clear();
        }

        return arrived;
    }

    private static bool Same(IEnumerable<byte[]> expected, List<byte[]> parts)
        => expected.Select(Convert.ToHexString).SequenceEqual(parts.Select(Convert.ToHexString), StringComparer.Ordinal);
}
