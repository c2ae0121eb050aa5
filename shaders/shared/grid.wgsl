// The number of a workgroup in a grid that was folded into x and y because one axis holds at most
// 65,535 workgroups (plan::linear_grid).
fn linear_group(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}
