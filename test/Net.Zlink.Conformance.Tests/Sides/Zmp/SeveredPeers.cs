using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>What the side under test knows of its connections when one of them is cut: how far each had come, and why it ended.</summary>
internal sealed class SeveredPeers
{
    private const long MalformedHello = 0x10000013;
    private const int Handshake = 3;
    private const int Lost = 4;

    private readonly Severance _severance;
    private readonly Side _side;
    private readonly SortedDictionary<int, Peer> _peers = [];

    public SeveredPeers(Severance severance)
    {
        _severance = severance;
        _side = severance.Transcript.Sides[severance.Implemented];
        long limit = _side.Options.LastOrDefault(option => option.Name is "MAXMSGSIZE")?.Value.Number ?? -1;
        foreach (TranscriptAction action in severance.Transcript.Actions.Where(
            a => a.Step <= severance.Step && a.Kind is ActionKind.Connect or ActionKind.Accept && IsOurs(severance, a.Connection)))
        {
            _peers.TryAdd(action.Connection, new Peer(action.Connection, new PeerReading(TypeOf(_side.Type), limit)));
        }

        foreach (PlayedBytes played in severance.Played)
        {
            Take(_peers[played.Connection], played);
        }
    }

    /// <summary>The frames that became whole in the step of the cut, in order.</summary>
    public List<ArrivedFrame> FramesOfStep { get; } = [];

    public static bool IsOurs(Severance severance, int connection)
        => severance.Implemented is "b" || string.Equals(
            severance.Transcript.ConnectorOf(connection), severance.Implemented, StringComparison.Ordinal);

    /// <summary>What the lost peer had subscribed, in ascending order. The side that connected keeps it for the next connection.</summary>
    public IEnumerable<byte[]> LostTopics()
    {
        Peer peer = _peers[_severance.Connection];
        return _side.Role is SideRole.Connect || IsGone(peer, _severance.Step) ? [] : peer.Topics.Select(Convert.FromHexString);
    }

    /// <summary>All events from the start on.</summary>
    public MonitorEvent[] Events()
    {
        bool monitored = _severance.Transcript.Actions.Any(action => action.Kind is ActionKind.Monitor && IsHere(action.At));
        return monitored ? [.. _peers.Values.SelectMany(EventsOf)] : [];
    }

    /// <summary>The numbers of the types that speak ZMP.</summary>
    private static byte TypeOf(string type) => type switch
    {
        "PAIR" => 0,
        "PUB" => 1,
        "SUB" => 2,
        "DEALER" => 5,
        "ROUTER" => 6,
        "XPUB" => 9,
        _ => 10,
    };

    private IEnumerable<MonitorEvent> EventsOf(Peer peer)
    {
        bool isAccepted = peer.Reading.IsReady && !peer.IsTurnedAway;
        if (isAccepted)
        {
            yield return Event("CONNECTION_READY", 0, peer.Reading.RoutingId);
        }

        bool isOver = peer.Number == _severance.Connection || peer.IsEvicted || peer.IsTurnedAway || peer.Reading.IsBroken
            || IsGone(peer, _severance.Step);
        if (!isOver || _severance.Transcript.Actions.Any(
            action => action.Kind is ActionKind.Close && action.Step <= _severance.Step && IsHere(action.At)))
        {
            yield break; // An application's own close is no event.
        }

        bool isFault = peer.IsEvicted || peer.IsTurnedAway || peer.Reading.IsBroken;
        if (peer.Reading.IsBrokenInHelloHeader)
        {
            yield return Event("HANDSHAKE_FAILED_PROTOCOL", MalformedHello, []);
        }
        else if (!isFault && !peer.Reading.IsReady)
        {
            yield return Event("HANDSHAKE_FAILED_NO_DETAIL", 0, []) with { Noise = true };
        }

        byte[] whose = isAccepted && _side.Role is SideRole.Connect ? peer.Reading.RoutingId : [];
        yield return Event("DISCONNECTED", isFault || !peer.Reading.IsReady ? Handshake : Lost, whose);
    }

    private void Take(Peer peer, PlayedBytes played)
    {
        bool wasReady = peer.Reading.IsReady;
        IReadOnlyList<PeerFrame> frames = peer.Reading.Take(played.Bytes);
        if (!wasReady && peer.Reading.IsReady)
        {
            FindPlace(peer, played.Step);
        }

        foreach (PeerFrame frame in frames)
        {
            bool isSubscription = peer.IsSubscription(frame, OnlyFirst());
            if (isSubscription && frame.Subscribes is true)
            {
                peer.Topics.Add(Convert.ToHexString(frame.Topic));
            }
            else if (isSubscription)
            {
                peer.Topics.Remove(Convert.ToHexString(frame.Topic));
            }

            if (played.Step == _severance.Step)
            {
                FramesOfStep.Add(new ArrivedFrame(peer.Number, frame, isSubscription));
            }
        }
    }

    /// <summary>A PAIR has one peer, and a ROUTER one of each routing id.</summary>
    private void FindPlace(Peer peer, int step)
    {
        foreach (Peer other in _peers.Values.Where(
            other => other != peer && other.Reading.IsReady && !other.IsTurnedAway && !other.IsEvicted && !IsGone(other, step)))
        {
            if (_side.Type is "ROUTER" && other.Reading.RoutingId.AsSpan().SequenceEqual(peer.Reading.RoutingId))
            {
                bool handsOver = _side.Options.Any(option => option.Name is "ROUTER_HANDOVER" && option.Value.Number != 0);
                (other.IsEvicted, peer.IsTurnedAway) = (handsOver, !handsOver);
            }

            peer.IsTurnedAway |= _side.Type is "PAIR";
        }
    }

    /// <summary>It ended before: in an earlier step, or dropped at the beginning of this one.</summary>
    private bool IsGone(Peer peer, int step)
        => _severance.Transcript.Records.Any(record => record.Connection == peer.Number && record.Step < step && record.Close is not null)
            || _severance.Transcript.Actions.Any(action => action.Kind is ActionKind.Cut && action.Connection == peer.Number
                && action.Step <= step);

    private bool OnlyFirst() => _side.Options.Any(option => option.Name is "ONLY_FIRST_SUBSCRIBE" && option.Value.Number != 0);

    private bool IsHere(string at) => string.Equals(at, _severance.Implemented, StringComparison.Ordinal);

    private MonitorEvent Event(string name, long value, byte[] routingId) =>
        new(_severance.Implemented, _severance.Step, name, value, routingId, Noise: false, []);

    private sealed class Peer(int number, PeerReading reading)
    {
        private bool _isInMessage;
        private bool _looksAtRest;

        public int Number { get; } = number;

        public PeerReading Reading { get; } = reading;

        /// <summary>In hex, whose order is that of the bytes.</summary>
        public SortedSet<string> Topics { get; } = new(StringComparer.Ordinal);

        public bool IsTurnedAway { get; set; }

        public bool IsEvicted { get; set; }

        /// <summary>With ONLY_FIRST_SUBSCRIBE later parts are looked at only if the first was a subscription.</summary>
        public bool IsSubscription(PeerFrame frame, bool onlyFirst)
        {
            bool isFirst = !_isInMessage;
            _isInMessage = frame.HasMore;
            bool isSubscription = frame.Subscribes is not null && (isFirst || _looksAtRest);
            _looksAtRest = isFirst ? !onlyFirst || isSubscription : _looksAtRest;
            return isSubscription;
        }
    }
}

/// <summary>A whole frame, and whether a publisher takes it for a subscription.</summary>
internal sealed record ArrivedFrame(int Connection, PeerFrame Frame, bool IsSubscription);
