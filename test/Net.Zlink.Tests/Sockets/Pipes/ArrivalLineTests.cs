using FsCheck.Fluent;
using Net.Zlink.Sockets.Pipes;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Sockets.Pipes;

public sealed class ArrivalLineTests
{
    [Fact]
    public void Lanes_come_out_once_for_each_message_in_the_order_of_arrival() =>
        ForAllArrays(Gen.Choose(0, 8), 60, static steps =>
        {
            var line = new ArrivalLine();
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
                    line.Enqueue(lane, (step / 3) + 1);
                }
                else
                {
                    Assert.Same(expected.Count == 0 ? null : expected.Dequeue(), line.Dequeue());
                }

                Assert.Equal(expected.Count == 0, line.IsEmpty);
            }

            while (expected.TryDequeue(out InboundLane? next))
            {
                Assert.Same(next, line.Dequeue());
            }

            Assert.Null(line.Dequeue());
        });

    [Fact]
    public void Clearing_it_gives_each_lane_once()
    {
        var line = new ArrivalLine();
        var one = new InboundLane(default);
        var other = new InboundLane(default);
        line.Enqueue(one, 3);
        line.Enqueue(other, 2);
        line.Enqueue(one, 1);
        Assert.Same(one, line.Dequeue());
        Assert.Equivalent(new[] { one, other }, line.Clear());
        Assert.True(line.IsEmpty);
        Assert.Null(line.Dequeue());
    }
}
