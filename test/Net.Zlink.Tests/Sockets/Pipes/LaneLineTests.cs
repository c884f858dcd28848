using FsCheck.Fluent;
using Net.Zlink.Sockets.Pipes;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Sockets.Pipes;

public sealed class LaneLineTests
{
    [Fact]
    public void Lanes_come_out_in_the_order_in_which_they_came_however_many_stand_there() =>
        ForAllArrays(Gen.Choose(-150, 150), 60, steps =>
        {
            var line = new LaneLine();
            var model = new Queue<InboundLane>();
            foreach (int step in steps)
            {
                for (int i = 0; i < step; i++)
                {
                    var lane = new InboundLane(default);
                    line.Enqueue(lane);
                    model.Enqueue(lane);
                }

                for (int i = 0; i > step; i--)
                {
                    Assert.Same(model.TryDequeue(out InboundLane? expected) ? expected : null, line.Dequeue());
                }

                Assert.Equal(model, Enumerable.Range(0, line.Count).Select(place => line[place]));
            }

            Assert.Equal(model, line.Clear());
            Assert.Null(line.Dequeue());
        });
}
