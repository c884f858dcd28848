using System.Reflection;
using Xunit;
using Xunit.Sdk;
using Xunit.v3;

namespace Net.Zlink.Tests.Support;

/// <summary>A row of a theory among the <see cref="SlowTests"/>.</summary>
[AttributeUsage(AttributeTargets.Method, AllowMultiple = true)]
internal sealed class SlowInlineDataAttribute(params object?[] data) : DataAttribute
{
    public override ValueTask<IReadOnlyCollection<ITheoryDataRow>> GetData(MethodInfo testMethod, DisposalTracker disposalTracker) =>
        ValueTask.FromResult<IReadOnlyCollection<ITheoryDataRow>>(
            [new TheoryDataRow(data) { Skip = SlowTests.AreOn ? null : SlowTests.Reason }]);

    public override bool SupportsDiscoveryEnumeration() => true;
}
