using FsCheck.Fluent;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Patterns;

public sealed class RotationTests
{
    private readonly Rotation<string> _rotation = new();

    [Fact]
    public void Peers_take_turns_in_order_of_attachment_starting_with_the_first()
    {
        Add("A", "B", "C");
        Assert.Equal("ABCABCA", Turns(7));
    }

    [Fact]
    public void A_peer_that_attaches_later_takes_its_first_turn_at_the_end_of_the_round()
    {
        Add("A", "B");
        Assert.Equal("A", Turns(1));
        Add("C");
        Assert.Equal("BCABC", Turns(5));
    }

    [Fact]
    public void Nobody_has_a_turn_while_all_are_full()
    {
        Assert.Null(_rotation.Current);
        RotationSlot<string>[] slots = Add("A", "B");
        Array.ForEach(slots, _rotation.Deactivate);
        Assert.Null(_rotation.Current);
        Assert.Equal((2, 0), (_rotation.Count, _rotation.ActiveCount));
        _rotation.Activate(slots[1]);
        Assert.Equal("BB", Turns(2));
    }

    [Fact]
    public void A_full_peer_is_passed_over_until_it_has_room()
    {
        RotationSlot<string>[] slots = Add("A", "B", "C");
        _rotation.Deactivate(slots[0]);
        Assert.False(_rotation.IsActive(slots[0]));
        Assert.Equal("CBCB", Turns(4)); // The last takes the place of the one that filled up.
        _rotation.Activate(slots[0]);
        Assert.Equal("CBA", Turns(3));
    }

    [Fact]
    public void Repeating_what_is_so_already_changes_nothing()
    {
        RotationSlot<string>[] slots = Add("A", "B");
        _rotation.Activate(slots[1]);
        Assert.Equal("AB", Turns(2));
        _rotation.Deactivate(slots[0]);
        _rotation.Deactivate(slots[0]);
        Assert.Equal("BB", Turns(2));
        _rotation.Remove(slots[0]);
        Assert.Equal((1, 1), (_rotation.Count, _rotation.ActiveCount));
    }

    [Fact]
    public void Every_peer_with_room_gets_one_turn_in_each_round_whatever_happened_before() =>
        ForAllArrays(Gen.Choose(0, 4).SelectMany(static _ => Gen.Choose(0, 30), static (kind, n) => (kind, n)), 500, static operations =>
        {
            var test = new RotationTests();
            List<RotationSlot<string>> attached = [];
            HashSet<RotationSlot<string>> active = [];
            int names = 0;
            foreach ((int kind, int n) in operations)
            {
                RotationSlot<string>? slot = attached.Count == 0 ? null : attached[n % attached.Count];
                switch (kind)
                {
                    case 1 when slot is not null:
                        test._rotation.Activate(slot);
                        active.Add(slot);
                        break;
                    case 2 when slot is not null:
                        test._rotation.Deactivate(slot);
                        active.Remove(slot);
                        break;
                    case 3 when slot is not null:
                        test._rotation.Remove(slot);
                        attached.Remove(slot);
                        active.Remove(slot);
                        break;
                    case 4 when active.Count > 0:
                        test._rotation.Advance();
                        break;
                    default:
                        RotationSlot<string> added = test._rotation.Add($"{names++}");
                        attached.Add(added);
                        active.Add(added);
                        break;
                }

                Assert.Equal((attached.Count, active.Count), (test._rotation.Count, test._rotation.ActiveCount));
                Assert.All(attached, s => Assert.Equal(active.Contains(s), test._rotation.IsActive(s)));
                HashSet<RotationSlot<string>> round = [];
                for (int i = 0; i < active.Count; i++)
                {
                    Assert.True(round.Add(test._rotation.Current!), "A second turn in one round.");
                    test._rotation.Advance();
                }

                Assert.Equal(active, round);
            }
        });

    [Fact]
    public void Turns_and_changes_allocate_nothing()
    {
        RotationSlot<string>[] slots = Add("A", "B", "C");
        Assert.Equal(0, Allocations.Of(() =>
        {
            _rotation.Advance();
            _rotation.Deactivate(slots[1]);
            _rotation.Advance();
            _rotation.Activate(slots[1]);
        }));
    }

    private RotationSlot<string>[] Add(params string[] peers) => [.. peers.Select(_rotation.Add)];

    private string Turns(int count) => string.Concat(Enumerable.Range(0, count).Select(_ =>
    {
        string peer = _rotation.Current!.Peer;
        _rotation.Advance();
        return peer;
    }));
}
