using FsCheck.Fluent;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

public sealed class ReadyLanesTests
{
    [Fact]
    public void Lanes_come_out_in_the_order_in_which_they_came_however_many_stand_there() =>
        ForAllArrays(Gen.Choose(-150, 150), 60, steps =>
        {
            var readyLanes = new ReadyLanes();
            var model = new Queue<InboundLane>();
            foreach (int step in steps)
            {
                for (int i = 0; i < step; i++)
                {
                    var lane = new InboundLane(default);
                    readyLanes.Enqueue(lane);
                    model.Enqueue(lane);
                }

                for (int i = 0; i > step; i--)
                {
                    Assert.Same(model.TryDequeue(out InboundLane? expected) ? expected : null, readyLanes.Dequeue());
                }

                Assert.Equal(model, Enumerable.Range(0, readyLanes.Count).Select(place => readyLanes[place]));
            }

        });
}
