using FsCheck.Fluent;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

public sealed class ArrivalOrderTests
{
    [Fact]
    public void Lanes_come_out_once_for_each_message_in_the_order_of_arrival() =>
        ForAllArrays(Gen.Choose(0, 8), 60, static steps =>
        {
            var arrivals = new ArrivalOrder();
            InboundLane[] lanes = [new(default), new(default), new(default)];
            var expected = new Queue<InboundLane>();
            foreach (int step in steps)
            {
                // Two of three add: one, two or three messages of one of the lanes.
                InboundLane lane = lanes[step % 3];
                for (int i = 0; i <= step / 3 && step < 6; i++)
                {
                    expected.Enqueue(lane);
                }

                if (step < 6)
                {
                    arrivals.Enqueue(lane, (step / 3) + 1);
                }
                else
                {
                    Assert.Same(expected.Count == 0 ? null : expected.Dequeue(), arrivals.Dequeue());
                }

                Assert.Equal(expected.Count == 0, arrivals.IsEmpty);
            }

            while (expected.TryDequeue(out InboundLane? next))
            {
                Assert.Same(next, arrivals.Dequeue());
            }

            Assert.Null(arrivals.Dequeue());
        });

    [Fact]
    public void Clearing_it_gives_each_lane_once()
    {
        var arrivals = new ArrivalOrder();
        var one = new InboundLane(default);
        var other = new InboundLane(default);
        arrivals.Enqueue(one, 3);
        arrivals.Enqueue(other, 2);
        arrivals.Enqueue(one, 1);
        Assert.Same(one, arrivals.Dequeue());
        Assert.Equivalent(new[] { one, other }, arrivals.Clear());
        Assert.True(arrivals.IsEmpty);
        Assert.Null(arrivals.Dequeue());
    }
}
