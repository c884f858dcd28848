using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The registry's state beside a model: any requests of any senders and any times, the same answers, rows and list
/// numbers.</summary>
public sealed class RegistryStateModelTests
{
    private const int MaxEntries = 6;
    private static readonly TimeSpan Lease = TimeSpan.FromSeconds(3);

    // Two processes at one address, a third with the id of the first elsewhere, and two that have one certificate.
    private static readonly (string Id, string Address, string? Certificate)[] Senders =
        [("a", "1", null), ("b", "1", null), ("a", "2", null), ("c", "1", "CN=x"), ("d", "3", "CN=x")];

    private enum Act
    {
        Register,
        RegisterAgain,
        UpdateWeight,
        Unregister,
        Heartbeat,
        Pass,
        ConnectOrEnd,
    }

    [Fact]
    public void Any_requests_of_any_senders_have_the_answers_and_effects_that_the_model_says() => Check.QuickThrowOnFailure(Prop.ForAll(
        (from act in Gen.Elements(Enum.GetValues<Act>())
         from sender in Gen.Choose(0, Senders.Length - 1)
         from key in Gen.Choose(0, 7)
         from weight in Gen.Choose(1, 3)
         select new Step(act, sender, ($"s{key % 3}", $"e{key % 4}"), (uint)weight)).ListOf().Resize(200).ToArbitrary(),
        static steps => new Run().Play([.. steps])));

    private sealed record Step(Act Act, int Sender, (string Service, string Endpoint) Key, uint Weight);

    private sealed record Owner(int Sender, uint Weight, TimeSpan LastSign);

    private sealed class Run
    {
        private readonly RegistryState _state = new(new RegistrySettings(7, Lease, TimeSpan.FromHours(1), MaxEntries), sequence: 100);
        private readonly RegistrySender[] _senders =
            [.. Senders.Select(static one => new RegistrySender(RoutingId.FromText(one.Id), one.Address, one.Certificate))];

        private readonly SortedDictionary<(string Service, string Endpoint), List<Owner>> _model = [];
        private readonly bool[] _isConnected = [true, true, true, true, true];
        private TimeSpan _now;

        public void Play(Step[] steps)
        {
            foreach (Step step in steps)
            {
                (string[] before, ulong sequence) = (Rows(), _state.Sequence);
                string expected = Expect(step);
                Assert.Equal(expected, Do(step));
                Assert.Equal(Rows(), Listed(_state.All));
                Assert.Equal(Rows(), Listed(_state.Own));
                Assert.Equal(ServiceListWriter.ByteCount(_state.All), _state.ByteCount);
                Assert.Equal(before.SequenceEqual(Rows(), StringComparer.Ordinal), sequence == _state.Sequence);
            }
        }

        private string Do(Step step)
        {
            if (step.Act == Act.Pass)
            {
                _state.Tick(_now);
                return "";
            }

            if (step.Act == Act.ConnectOrEnd)
            {
                return "";
            }

            ushort id = step.Act switch
            {
                Act.Register or Act.RegisterAgain => MessageIds.Register,
                Act.UpdateWeight => MessageIds.UpdateWeight,
                Act.Unregister => MessageIds.Unregister,
                _ => MessageIds.Heartbeat,
            };
            var key = new EntryKey(new ServiceKey(1, new ServiceText(step.Key.Service)), new ServiceText(step.Key.Endpoint));
            HashSet<(RoutingId, string)> connected =
                [.. Senders.Where((_, i) => _isConnected[i]).Select(static one => (RoutingId.FromText(one.Id), one.Address))];
            RegistryAck? ack = _state.Handle(_now, new RegistryRequest(id, key, step.Weight), _senders[step.Sender], default, connected);
            return ack is { } said ? $"{said.Status} {said.Error}" : "";
        }

        private string Expect(Step step)
        {
            List<Owner>? owners = _model.GetValueOrDefault(step.Key);
            int at = owners?.FindIndex(owner => IsSameProcess(step.Sender, owner.Sender)) ?? -1;
            var now = new Owner(step.Sender, step.Weight, _now);
            switch (step.Act)
            {
                case Act.Register or Act.RegisterAgain when owners is null && _model.Count >= MaxEntries:
                    return "2 registry full";
                case Act.Register or Act.RegisterAgain when owners is null:
                    _model.Add(step.Key, [now]);
                    return "0 ";
                case Act.Register or Act.RegisterAgain when at >= 0:
                    owners![at] = now;
                    return "0 ";
                case Act.Register or Act.RegisterAgain:
                    owners!.Add(now);
                    return "0 ";
                case Act.UpdateWeight when owners is null:
                    return _model.Keys.Any(key => string.Equals(key.Service, step.Key.Service, StringComparison.Ordinal))
                        ? "1 provider not found" : "1 service not found";
                case Act.UpdateWeight:
                    at = owners.FindLastIndex(owner => MayChange(step.Sender, owner.Sender));
                    if (at < 0)
                    {
                        return "255 not the owner";
                    }

                    owners[at] = now with { Sender = owners[at].Sender };
                    return "0 ";
                case Act.Unregister when owners?.Exists(owner => MayChange(step.Sender, owner.Sender)) == true:
                    owners.RemoveAll(owner => at >= 0 ? IsSameProcess(step.Sender, owner.Sender) : MayChange(step.Sender, owner.Sender));
                    owners.RemoveAll(owner => IsSamePlace(step.Sender, owner.Sender) && !IsConnected(owner.Sender));
                    RemoveIfEmpty();
                    return "";
                case Act.Heartbeat when owners is not null:
                    bool isItself = owners.Exists(owner => IsHeard(step.Sender, owner.Sender) && IsSameId(step.Sender, owner.Sender));
                    for (int i = 0; i < owners.Count; i++)
                    {
                        bool counts = IsHeard(step.Sender, owners[i].Sender) && (!isItself || IsSameId(step.Sender, owners[i].Sender));
                        owners[i] = counts ? owners[i] with { LastSign = _now } : owners[i];
                    }

                    return "";
                case Act.Pass:
                    _now += TimeSpan.FromMilliseconds(step.Weight * 300);
                    foreach (List<Owner> leases in _model.Values)
                    {
                        leases.RemoveAll(owner => _now - owner.LastSign > Lease);
                    }

                    RemoveIfEmpty();
                    return "";
                case Act.ConnectOrEnd:
                    _isConnected[step.Sender] ^= true;
                    return "";
                default:
                    return "";
            }
        }

        private void RemoveIfEmpty()
        {
            foreach ((string, string) key in _model.Where(static one => one.Value.Count == 0).Select(static one => one.Key).ToArray())
            {
                _model.Remove(key);
            }
        }

        private bool IsConnected(int sender) => Senders.Index().Any(other => _isConnected[other.Index]
            && string.Equals(other.Item.Id, Senders[sender].Id, StringComparison.Ordinal)
            && string.Equals(other.Item.Address, Senders[sender].Address, StringComparison.Ordinal));

        private static bool IsSameId(int sender, int owner) =>
            string.Equals(Senders[sender].Id, Senders[owner].Id, StringComparison.Ordinal);

        private static bool IsSameAddress(int sender, int owner) =>
            string.Equals(Senders[sender].Address, Senders[owner].Address, StringComparison.Ordinal);

        private static bool IsSamePlace(int sender, int owner) => Senders[owner].Certificate is { } subject
            ? string.Equals(subject, Senders[sender].Certificate, StringComparison.Ordinal) : IsSameAddress(sender, owner);

        private static bool IsSameProcess(int sender, int owner) => IsSamePlace(sender, owner) && IsSameId(sender, owner);

        private static bool MayChange(int sender, int owner) =>
            IsSamePlace(sender, owner) && (Senders[owner].Certificate is not null || IsSameId(sender, owner));

        private static bool IsHeard(int sender, int owner) => IsSamePlace(sender, owner) || IsSameAddress(sender, owner);

        private string[] Rows() => [.. _model.OrderBy(static one => one.Key.Service, StringComparer.Ordinal)
            .ThenBy(static one => one.Key.Endpoint, StringComparer.Ordinal)
            .Select(static one => $"{one.Key.Service} {one.Key.Endpoint} {Senders[one.Value[^1].Sender].Id} {one.Value[^1].Weight}")];

        private static string[] Listed(ListedService[] services) => [.. services.SelectMany(static service => service.Instances.Select(
            instance => $"{service.Key.Name} {instance.Endpoint} {instance.RoutingId} {instance.Weight}"))];
    }
}
