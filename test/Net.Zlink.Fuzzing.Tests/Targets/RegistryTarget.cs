using Net.Zlink.Services;
using Xunit;
using ServiceFrames = Net.Zlink.Services.Frames;

namespace Net.Zlink.Fuzzing;

/// <summary>What clients ask of a registry, what its peers list, and how time passes. A step's first frame says who and what, an empty
/// frame ends it.</summary>
internal sealed class RegistryTarget : FuzzTarget
{
    private const int MaxEntries = 6;
    private const int MaxSteps = 64;

    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(3);
    private static readonly (string Id, string Address, string? Certificate)[] s_senders =
        [("a", "1", null), ("b", "1", null), ("a", "2", null), ("c", "1", "CN=x")];

    public override IEnumerable<byte[]> Seeds =>
    [
        .. from id in (byte[])[1, 3, 4, 7]
           select (byte[])[.. Request(0, 1), .. Request(1, id), .. Request(2, 1, "e2"), .. Request(0, id, "e2"), .. Framed([0x40], [])],
        [.. Framed([0x80], [5, 0], [9, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0], [1, 0], Utf8("s"), [2, 0, 0, 0], Utf8("e"),
            Utf8("i"), [3, 0, 0, 0], Utf8("e2"), Utf8("i"), [1, 0, 0, 0], []), .. Request(0, 1), .. Request(0, 3), .. Framed([0xC0], [])],
    ];

    public override byte[][] Words =>
    [
        .. from id in (byte[])[1, 3, 4, 7] select Request(0, id),
        Framed([0x41], []), Framed([0x47], []), Framed([0xC1], []), [0], Framed([1, 0]), Framed(Utf8("s")), Framed(Utf8("e")),
        Framed([0x81], [6, 0], [9, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0], [1, 0], Utf8("s"), [1, 0, 0, 0], Utf8("e3"),
            Utf8("i")),
    ];

    protected override void Try(byte[] input)
    {
        var scene = new Scene();
        List<byte[]> step = [];
        int steps = 0;
        foreach (byte[] frame in Frames(input))
        {
            step.Add(frame);
            if (frame.Length == 0 && step.Count > 1 && steps++ < MaxSteps)
            {
                scene.Do(step[0].Length > 0 ? step[0][0] : (byte)0, [.. step.Skip(1).SkipLast(1)]);
                step.Clear();
            }
        }
    }

    private static byte[] Request(byte sender, byte id, string endpoint = "e") =>
        Framed([sender], [id, 0], [1, 0], Utf8("s"), Utf8(endpoint), [sender, 0, 0, 0], []);

    private sealed class Scene
    {
        private readonly RegistryState _state = new(new RegistrySettings(7, s_lease, 2 * s_lease, MaxEntries), sequence: 100);
        private readonly RegistrySender[] _senders =
            [.. s_senders.Select(static one => new RegistrySender(RoutingId.FromText(one.Id), one.Address, one.Certificate))];

        private readonly PeerView[] _views = [new PeerView("tcp://a:1"), new PeerView("tcp://b:1"), new PeerView("")];
        private TimeSpan _now;

        public void Do(byte what, byte[][] given)
        {
            (string before, ulong sequence) = (Listed(), _state.Sequence);
            var frames = new ServiceFrames(given);
            switch (what >> 6)
            {
                case 0:
                    Ask(_senders[what % _senders.Length], frames);
                    break;
                case 1:
                    _now += (what & 7) * s_lease / 4;
                    _state.Tick(_now, (what & 8) == 0 ? null : _views[1..]);
                    break;
                case 2:
                    Take(_views[what % _views.Length], frames);
                    break;
                default:
                    int view = what % _views.Length;
                    _state.RemoveView(_now, _views[view], "removed");
                    _views[view] = new PeerView(_views[view].RemoteAddress);
                    break;
            }

            Assert.True(string.Equals(before, Listed(), StringComparison.Ordinal) || sequence < _state.Sequence,
                 "a list changes, and its number does not");
            Assert.InRange(_state.OwnCount, 0, MaxEntries);
            Assert.InRange(_state.All.Sum(static service => service.Instances.Length), _state.OwnCount, MaxEntries + _state.OwnCount);
            Assert.Equal(_state.OwnCount, _state.Own.Sum(static service => service.Instances.Length));
            Assert.Equal(ServiceListWriter.ByteCount(_state.All), _state.ByteCount);
            Assert.All(_state.DequeueEvents(), static one => Assert.NotEmpty(one.ToString()));
            _state.RemovalsAt(_now);
        }

        private string Listed() => string.Join(' ', from service in _state.All
                                                    from one in service.Instances
                                                    select $"{service.Key.Kind}:{Show(service.Key.Name.Span)}:{Show(one.Endpoint.Span)}:"
                                                        + $"{Show(one.RoutingId.Span)}:{one.Weight}");

        private void Ask(RegistrySender sender, in ServiceFrames frames)
        {
            var request = RegistryRequest.Read(frames);
            bool mayHaveAnswer = request.Id is MessageIds.Register or MessageIds.UpdateWeight;
            _state.AsksAdmission(request, sender, out _);
            HashSet<(RoutingId, string)>? connected = _state.AsksConnections(request) ? [(sender.Id, sender.Address)] : null;
            RegistryAck? ack = _state.Handle(_now, request, sender, connected: connected);
            Assert.Equal(mayHaveAnswer, ack is not null);
            Assert.True(request.Fault is null || ack == request.Fault);
            if (mayHaveAnswer && ack is { Status: AckStatus.Done })
            {
                Assert.Contains(_state.Own, service => service.Key == request.Entry.Service
                    && service.Instances.Any(one => one.Endpoint == request.Entry.Endpoint));
            }
        }

        private void Take(PeerView view, in ServiceFrames frames)
        {
            ServiceListHeader? header = ServiceListHeader.TryRead(frames, out ServiceListHeader list) ? list : null;
            if (_state.WantsList(_now, view, header))
            {
                _state.TakeList(_now, view, list, ServiceListReader.Read(frames, list, view.Services), ListRemovals.Read(frames));
            }
        }
    }
}
