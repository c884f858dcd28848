using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Running;

public sealed class CompilationTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    private readonly ManualTimeProvider _time = new();
    private long _methods;

    [Fact]
    public void Code_is_exercised_until_half_a_second_after_the_last_methods_were_compiled()
    {
        Compilation compilation = Make();
        for (int i = 0; i < 5; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(499));
            _methods += 100;
            Assert.True(compilation.GoesOn);
        }

        _time.Advance(TimeSpan.FromMilliseconds(499));
        Assert.True(compilation.GoesOn);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(compilation.GoesOn);
    }

    [Fact]
    public void A_method_now_and_then_prolongs_nothing()
    {
        Compilation compilation = Make();
        _time.Advance(TimeSpan.FromMilliseconds(250));
        _methods += 9;
        Assert.True(compilation.GoesOn);
        _time.Advance(TimeSpan.FromMilliseconds(250));
        Assert.False(compilation.GoesOn);
    }

    [Fact]
    public void Code_that_is_compiled_for_ever_is_exercised_up_to_the_limit()
    {
        Compilation compilation = Make();
        for (TimeSpan passed = TimeSpan.Zero; passed < Limit; passed += TimeSpan.FromMilliseconds(100))
        {
            Assert.True(compilation.GoesOn);
            _time.Advance(TimeSpan.FromMilliseconds(100));
            _methods += 100;
        }

        Assert.False(compilation.GoesOn);
    }

    private Compilation Make() => new(Limit, _time, () => _methods);
}
